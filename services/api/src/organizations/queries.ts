import type { Plan } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/db';
import type { PageQuestion } from '../http/paging.ts';
import { isAfter, positionOf } from '../http/sql-paging.ts';

export interface OrganizationRow {
  id: string;
  name: string;
  plan: Plan;
  created_at: Date;
}

const columns = ['id', 'name', 'plan', 'created_at'] as const;

export async function insertOrganization(
  db: Database,
  organization: { id: string; name: string; plan: Plan },
): Promise<OrganizationRow> {
  return db.insertInto('organizations').values(organization).returning(columns).executeTakeFirstOrThrow();
}

export async function findOrganization(db: Database, id: string): Promise<OrganizationRow | undefined> {
  return db.selectFrom('organizations').select(columns).where('id', '=', id).executeTakeFirst();
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
  db: Database,
  id: string,
  changes: { name?: string | undefined; plan?: Plan | undefined },
): Promise<OrganizationRow | undefined> {
  return db.updateTable('organizations').set(changes).where('id', '=', id).returning(columns).executeTakeFirst();
}

/** Which of these organizations exist. */
export async function findExistingOrganizations(db: Database, ids: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom('organizations').select('id').where('id', 'in', ids).execute();
  return rows.map((row) => row.id);
}
