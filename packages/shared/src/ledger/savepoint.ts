import { sql } from 'kysely';
import type { DatabaseTransaction } from './database.ts';

/** Marks a point that {@link returnToSavepoint} goes back to; a later mark takes the place of an earlier one. */
export async function markSavepoint(trx: DatabaseTransaction): Promise<void> {
  await sql`savepoint part`.execute(trx);
}

/** Undoes what the transaction did since {@link markSavepoint}, and gives its row locks back. */
export async function returnToSavepoint(trx: DatabaseTransaction): Promise<void> {
  await sql`rollback to savepoint part`.execute(trx);
}
