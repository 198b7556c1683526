import { type Kysely, sql } from 'kysely';
import { hashEarlierEventKeys } from './event-keys.ts';

/** Changes the rows that 1.0.0 wrote. Locks no table; triggers change what processes write meanwhile. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await hashEarlierEventKeys(db);
  await keepCurrentVersions(db);
}

/** Stores the current configuration of each webhook as a version. */
async function keepCurrentVersions(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert into webhook_versions (webhook_id, version, url, event_patterns, state)
    select id, version, url, event_patterns, state from webhooks
    on conflict (webhook_id, version) do update set event_patterns = excluded.event_patterns, state = excluded.state
    where webhook_versions.state is null`.execute(db);
}
