import { sql } from 'kysely';
import type { DatabaseTransaction } from './database.ts';

/** Sets a savepoint, which replaces the previous one. {@link returnToSavepoint} rolls back to it. */
export async function markSavepoint(trx: DatabaseTransaction): Promise<void> {
  await sql`savepoint part`.execute(trx);
}

/** Undoes everything since {@link markSavepoint}, and releases the row locks taken since then. */
export async function returnToSavepoint(trx: DatabaseTransaction): Promise<void> {
  await sql`rollback to savepoint part`.execute(trx);
}
