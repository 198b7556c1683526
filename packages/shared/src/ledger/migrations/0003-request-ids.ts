import { type Kysely, sql } from 'kysely';

/** The request that emitted an event: from a request id, a client or an operator finds the event and its attempts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Without a default nothing is rewritten: rows from before have none.
  await sql`alter table events add column request_id text`.execute(db);
}
