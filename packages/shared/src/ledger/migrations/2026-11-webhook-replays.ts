import { type Kysely, sql } from 'kysely';

/**
 * Replays. A running one lists its deliveries in the row itself, so that hot tables need no column and no index. The
 * lists are large and read as a whole: PostgreSQL neither compresses them nor keeps statistics of them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table replays (
      id uuid primary key,
      organization_id uuid not null,
      webhook_id uuid not null,
      state text not null default 'running' check (state in ('running', 'completed', 'canceled')),
      matched int not null default 0,
      has_more boolean not null default false,
      pending int not null default 0,
      succeeded int not null default 0,
      failed int not null default 0,
      canceled int not null default 0,
      rate_per_second int,
      created_at timestamptz not null default clock_timestamp(),
      completed_at timestamptz,
      delivery_ids uuid[] default '{}',
      rounds smallint[] default '{}',
      count_due_at timestamptz not null default clock_timestamp(),
      check ((state = 'running') = (completed_at is null)),
      check ((state = 'running') = (delivery_ids is not null)),
      check ((state = 'running') = (rounds is not null))
    )`.execute(db);
  for (const column of ['delivery_ids', 'rounds']) {
    await sql`alter table replays alter column ${sql.ref(column)} set storage external,
      alter column ${sql.ref(column)} set statistics 0`.execute(db);
  }
  await sql`create index replays_newest on replays (organization_id, created_at desc, id desc)`.execute(db);
  await sql`create index replays_of_webhook on replays (webhook_id, created_at desc, id desc)`.execute(db);
  await sql`create index replays_running on replays (count_due_at) where state = 'running'`.execute(db);
}
