import { type Kysely, sql } from 'kysely';

/** Stores what each webhook is now. Changes go on meanwhile, and triggers write their versions. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert into webhook_versions (webhook_id, version, url, event_patterns, state)
    select id, version, url, event_patterns, state from webhooks
    on conflict (webhook_id, version) do update set event_patterns = excluded.event_patterns, state = excluded.state
    where webhook_versions.state is null`.execute(db);
}
