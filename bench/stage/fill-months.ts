import { type Database, ensurePartitions } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** A history without failures, as if its events had been emitted evenly over a period. */
export interface Period {
  organizationId: string;
  webhookIds: readonly string[];
  from: Date;
  until: Date;
  rows: number;
  /** Of its first event. Events written later than others must have greater positions. */
  firstPosition: number;
}

/** Creates the partitions of so many months before last month, which every ledger has. */
export async function addMonths(db: Database, now: Date, months: number): Promise<void> {
  // Each call makes the month before its own as well.
  for (let back = 1; back <= months; back++) await ensurePartitions(db, monthsBefore(now, back));
}

/** The middle of a month. */
export function monthsBefore(now: Date, months: number): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 15));
}

/** Drops the oldest partitions of all partitioned tables, but for the newest ones. */
export async function dropMonths(db: Database, tables: readonly string[], kept: number): Promise<void> {
  for (const table of tables) {
    const names = await partitionsOf(db, table);
    for (const name of names.slice(0, -kept)) await sql`drop table ${sql.table(name)}`.execute(db);
  }
}

/** The partitions of a table, the oldest first: a name ends with its month. */
export async function partitionsOf(db: Database, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = ${table}::regclass order by 1`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

/** Inserts events and their deliveries, one each. One in 20 has failed, one in 100 is of a rare type. */
export async function fillPeriod(db: Database, period: Period): Promise<void> {
  const { organizationId, webhookIds, from, until, rows, firstPosition } = period;
  await sql`
    with rows as (
      select n, at, lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') as ms,
        '8' || lpad(to_hex(n), 15, '0') as rest,
        case when n % 100 = 1 then 'batch.failed' else 'consultation.completed' end as type
      from (select n, ${from}::timestamptz + (${until}::timestamptz - ${from}::timestamptz) * n / ${rows}::int as at
            from generate_series(0, ${rows - 1}::int) n) numbered
    ), events as (
      insert into events (id, organization_id, type, created_at, position)
      select (ms || '7000' || rest)::uuid, ${organizationId}, type, at, ${firstPosition}::bigint + n from rows
    ), bodies as (
      insert into event_bodies select (ms || '7000' || rest)::uuid, '{}' from rows
    )
    insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, attempt_count, max_attempts,
      created_at, completed_at)
    select (ms || '8000' || rest)::uuid, ${organizationId}, (${webhookIds}::uuid[])[1 + n % ${webhookIds.length}::int],
      (ms || '7000' || rest)::uuid, type, case n % 20 when 7 then 'failed' else 'succeeded' end, 1, 4, at, at
    from rows`.execute(db);
}
