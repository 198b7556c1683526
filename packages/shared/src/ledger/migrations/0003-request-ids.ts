import { type Kysely, sql } from 'kysely';

/** Which request brought an event: what a client or an operator has in hand leads to the event and its attempts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Without a default nothing is rewritten: rows from before have none.
  await sql`alter table events add column request_id text`.execute(db);
}
