import type { Database } from '@enterprise-api/shared/ledger';

export async function organizationExists(db: Database, id: string): Promise<boolean> {
  const row = await db.selectFrom('organizations').select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}
