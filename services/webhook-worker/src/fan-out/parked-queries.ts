import type { Database, Row } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

/** An event whose deliveries PostgreSQL refuses. */
export type ParkedEvent = Pick<Row<'parked_events'>, 'event_id' | 'organization_id' | 'reason' | 'failures'>;

/** Moves an event from the outbox to `parked_events`. @returns null when it is not in the outbox any more */
export async function park(
  db: Database,
  eventId: Uuid,
  reason: string,
  failures: number,
  retryAfterMs: number,
): Promise<ParkedEvent | null> {
  const { rows } = await sql<ParkedEvent>`
    with removed as (delete from outbox where event_id = ${eventId} returning event_id, organization_id, created_at)
    insert into parked_events (event_id, organization_id, created_at, reason, failures, retry_at)
    select event_id, organization_id, created_at, ${reason}, ${failures},
           clock_timestamp() + make_interval(secs => ${retryAfterMs / 1_000})
    from removed
    on conflict (event_id) do nothing
    returning event_id, organization_id, reason, failures`.execute(db);
  return rows[0] ?? null;
}

/** Moves an event back into the outbox, as old as it was. @returns how often it had failed; null when it is not parked */
export async function unpark(db: Database, eventId: Uuid): Promise<number | null> {
  const { rows } = await sql<{ failures: number }>`
    with removed as (delete from parked_events where event_id = ${eventId} returning *),
    restored as (insert into outbox (event_id, organization_id, created_at)
      select event_id, organization_id, created_at from removed on conflict do nothing)
    select failures from removed`.execute(db);
  return rows[0]?.failures ?? null;
}

/** Parked events whose time has come. */
export async function findDueParkedEvents(db: Database, limit: number): Promise<Uuid[]> {
  const rows = await db
    .selectFrom('parked_events')
    .select('event_id')
    .where('retry_at', '<=', sql<Date>`clock_timestamp()`)
    .orderBy('event_id')
    .limit(limit)
    .execute();
  return rows.map(({ event_id }) => event_id);
}

export async function makeParkedEventsDue(db: Database): Promise<void> {
  await sql`update parked_events set retry_at = clock_timestamp()`.execute(db);
}
