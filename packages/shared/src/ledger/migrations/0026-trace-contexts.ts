import { type Kysely, sql } from 'kysely';

/**
 * The trace that an event belongs to, so that its attempts continue it: W3C's `traceparent`. Without a default nothing is
 * rewritten, and rows without a trace take no more room than before.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table events add column traceparent text`.execute(db);
}
