import { type Kysely, sql } from 'kysely';

/** Headers of deliveries for gateways: their names, and names and values together, encrypted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table webhooks add column header_names text[], add column headers_sealed text`.execute(db);
}
