import type { Database, DatabaseTransaction, Row } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

type OrganizationState = Row<'organizations'>['state'];

export async function findOrganizationState(db: Database, id: Uuid): Promise<OrganizationState | undefined> {
  const row = await db.selectFrom('organizations').select('state').where('id', '=', id).executeTakeFirst();
  return row?.state;
}

/** Keeps the organization in its state until the transaction ends. */
export async function lockOrganizationState(
  trx: DatabaseTransaction,
  id: Uuid,
): Promise<OrganizationState | undefined> {
  const { rows } = await sql<{ state: OrganizationState }>`
    select state from organizations where id = ${id} for share`.execute(trx);
  return rows[0]?.state;
}
