import { type Kysely, sql } from 'kysely';

/**
 * How often a delivery was leased since its last recorded attempt: `claims` becomes `lease_count`. The rename changes the
 * catalogue of the table and of each partition, and no row: its lock is held for milliseconds.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table deliveries rename column claims to lease_count`.execute(db);
}
