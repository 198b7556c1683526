import { type Kysely, sql } from 'kysely';

/** The id that the owner of the service has for an organization elsewhere, such as in its billing system. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table organizations add column external_id text`.execute(db);
  await sql`create unique index organizations_external_id on organizations (external_id)`.execute(db);
}
