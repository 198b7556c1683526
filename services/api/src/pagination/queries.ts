import type { DatabaseTransaction } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

/** @returns false if another transaction searches for the organization */
export async function lockSearch(trx: DatabaseTransaction, organizationId: Uuid): Promise<boolean> {
  const { rows } = await sql<{ free: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended('search of ' || ${organizationId}, 0)) as free`.execute(trx);
  return rows[0]?.free === true;
}
