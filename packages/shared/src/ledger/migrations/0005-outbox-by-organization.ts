import { type Kysely, sql } from 'kysely';

/** The relay serves organizations in turn, however many events one of them has waiting. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index outbox_by_organization on outbox (organization_id, event_id)`.execute(db);
}
