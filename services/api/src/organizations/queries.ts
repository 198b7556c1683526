import type { Plan } from '@enterprise-api/shared/contracts';
import type { Database, DatabaseTransaction, Row } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import type { PageQuestion } from '../pagination/paging.ts';
import { isAfter, positionOf } from '../pagination/sql-paging.ts';

const columns = ['id', 'name', 'plan', 'created_at'] as const;

export type OrganizationRow = Pick<Row<'organizations'>, (typeof columns)[number]>;

export async function insertOrganization(
  trx: DatabaseTransaction,
  organization: { id: Uuid; name: string; plan: Plan },
): Promise<OrganizationRow> {
  return trx.insertInto('organizations').values(organization).returning(columns).executeTakeFirstOrThrow();
}

export async function findOrganization(db: Database, id: Uuid): Promise<OrganizationRow | undefined> {
  return db.selectFrom('organizations').select(columns).where('id', '=', id).executeTakeFirst();
}

/** {@link findOrganization}, and no other transaction changes the organization until this one ends. */
export async function lockOrganization(trx: DatabaseTransaction, id: Uuid): Promise<OrganizationRow | undefined> {
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
  id: Uuid,
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
export async function findExistingOrganizations(db: Database, ids: readonly Uuid[]): Promise<Uuid[]> {
  const rows = await db.selectFrom('organizations').select('id').where('id', 'in', ids).execute();
  return rows.map((row) => row.id);
}
