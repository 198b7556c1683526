import { type Kysely, sql } from 'kysely';
import { createMonthlyPartitions } from './monthly-partitions.ts';

/** Stores what each webhook was at any time, and when events without deliveries were fanned out. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createFanOuts(db);
  await keepVersions(db);
  await keepOldName(db);
}

async function createFanOuts(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table fan_outs (
      event_id uuid not null primary key,
      began_at timestamptz not null,
      ended_at timestamptz not null default clock_timestamp()
    ) partition by range (event_id)`.execute(db);
  await createMonthlyPartitions(db, 'fan_outs');
}

/** Triggers write the versions, because processes of several versions change webhooks. */
async function keepVersions(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function keep_webhook_version() returns trigger language plpgsql as $$
    begin
      insert into webhook_versions (webhook_id, version, url, event_patterns, state, change_began_at)
      values (new.id, new.version, new.url, new.event_patterns, new.state, now());
      return null;
    end $$`.execute(db);
  // Requests lock `webhooks` before the table of versions, so this migration does too.
  await sql`
    create trigger keep_first_version after insert on webhooks for each row execute function keep_webhook_version()`.execute(
    db,
  );
  await sql`
    create trigger keep_version after update on webhooks for each row
    when (new.version <> old.version
      and (new.url, new.event_patterns, new.state) is distinct from (old.url, old.event_patterns, old.state))
    execute function keep_webhook_version()`.execute(db);
  await sql`alter table webhook_urls rename to webhook_versions`.execute(db);
  await sql`alter index webhook_urls_pkey rename to webhook_versions_pkey`.execute(db);
  await sql`
    alter table webhook_versions
      add column event_patterns text[],
      add column state text check (state in ('enabled', 'disabled', 'deleted')),
      add column change_began_at timestamptz,
      add column change_ended_at timestamptz`.execute(db);
  await sql`create index webhook_versions_not_ended on webhook_versions (webhook_id) where change_ended_at is null`.execute(
    db,
  );
}

/** Version 1.0.0 reads and deletes URLs under the old name. The triggers have written what it inserts. */
async function keepOldName(db: Kysely<unknown>): Promise<void> {
  await sql`create view webhook_urls as select webhook_id, version, url from webhook_versions`.execute(db);
  await sql`
    create function ignore_webhook_url() returns trigger language plpgsql as $$ begin return null; end $$`.execute(db);
  await sql`
    create trigger ignore_webhook_url instead of insert on webhook_urls for each row execute function ignore_webhook_url()`.execute(
    db,
  );
}
