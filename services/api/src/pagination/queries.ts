import type { DatabaseTransaction } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

/** PostgreSQL ends each later statement of the transaction after this time. */
export async function limitStatements(trx: DatabaseTransaction, ms: number): Promise<void> {
  await sql`select set_config('statement_timeout', ${String(Math.max(1, Math.ceil(ms)))}, true)`.execute(trx);
}

/** @returns false if another search of the organization is running */
export async function lockSearch(trx: DatabaseTransaction, organizationId: Uuid): Promise<boolean> {
  const { rows } = await sql<{ free: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended('search of ' || ${organizationId}, 0)) as free`.execute(trx);
  return rows[0]?.free === true;
}
