import type { Database, Row } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

export type ParkedEvent = Pick<Row<'parked_events'>, 'event_id' | 'organization_id' | 'reason' | 'failures'>;

/**
 * Moves an event from the outbox to `parked_events`.
 *
 * @returns null when the event is no longer in the outbox
 */
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

/**
 * Moves the next due parked event back into the outbox and keeps the event's original time.
 *
 * @returns null when no parked event is due
 */
export async function unparkNext(db: Database): Promise<Pick<ParkedEvent, 'event_id' | 'failures'> | null> {
  const { rows } = await sql<Pick<ParkedEvent, 'event_id' | 'failures'>>`
    with removed as (
      delete from parked_events where event_id = (
        select event_id from parked_events where retry_at <= clock_timestamp()
        order by event_id limit 1 for update skip locked)
      returning *),
    restored as (insert into outbox (event_id, organization_id, created_at)
      select event_id, organization_id, created_at from removed on conflict do nothing)
    select event_id, failures from removed`.execute(db);
  return rows[0] ?? null;
}

export async function makeParkedEventsDue(db: Database): Promise<void> {
  await sql`update parked_events set retry_at = clock_timestamp()`.execute(db);
}
