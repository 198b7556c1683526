import { sql } from 'kysely';
import type { DatabaseTransaction } from './database.ts';

/** Sets the savepoint that {@link returnToSavepoint} goes back to; it replaces an earlier one. */
export async function markSavepoint(trx: DatabaseTransaction): Promise<void> {
  await sql`savepoint part`.execute(trx);
}

/** Undoes what the transaction did since {@link markSavepoint}, and releases the row locks it got since. */
export async function returnToSavepoint(trx: DatabaseTransaction): Promise<void> {
  await sql`rollback to savepoint part`.execute(trx);
}
