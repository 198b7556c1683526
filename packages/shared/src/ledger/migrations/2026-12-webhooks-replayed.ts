import { type Kysely, sql } from 'kysely';

/** When a replay's delivery was due before, if it was pending: canceling the replay restores that time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table replays add column due_times timestamptz[] default '{}',
    alter column due_times set storage external, alter column due_times set statistics 0`.execute(db);
}
