import type { Plan } from '@enterprise-api/shared/contracts';
import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import type { PageQuestion } from '../pagination/paging.ts';
import { isAfter, positionOf } from '../pagination/sql-paging.ts';

export interface OrganizationRow {
  id: string;
  name: string;
  plan: Plan;
  created_at: Date;
}

const columns = ['id', 'name', 'plan', 'created_at'] as const;

export async function insertOrganization(
  trx: DatabaseTransaction,
  organization: { id: string; name: string; plan: Plan },
): Promise<OrganizationRow> {
  return trx.insertInto('organizations').values(organization).returning(columns).executeTakeFirstOrThrow();
}

export async function findOrganization(db: Database, id: string): Promise<OrganizationRow | undefined> {
  return db.selectFrom('organizations').select(columns).where('id', '=', id).executeTakeFirst();
}

/** {@link findOrganization}, and nobody else changes it until the transaction ends. */
export async function lockOrganization(trx: DatabaseTransaction, id: string): Promise<OrganizationRow | undefined> {
  return trx.selectFrom('organizations').select(columns).where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

export async function listOrganizations(db: Database, page: PageQuestion) {
  return db
    .selectFrom('organizations')
    .select([...columns, positionOf('created_at')])
    .where(isAfter(page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute();
}

export async function updateOrganization(
  trx: DatabaseTransaction,
  id: string,
  changes: { name?: string | undefined; plan?: Plan | undefined },
): Promise<OrganizationRow> {
  return trx
    .updateTable('organizations')
    .set(changes)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();
}

/** Which of these organizations exist. */
export async function findExistingOrganizations(db: Database, ids: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom('organizations').select('id').where('id', 'in', ids).execute();
  return rows.map((row) => row.id);
}
