import type { Scope } from '@enterprise-api/shared/contracts';
import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';
import type { PageQuestion } from '../pagination/paging.ts';
import { isAfter, positionOf } from '../pagination/sql-paging.ts';

const columns = [
  'id',
  'organization_id',
  'name',
  'public_id',
  'scopes',
  'ip_allowlist',
  'created_at',
  'expires_at',
  'last_used_at',
] as const;

export interface KeyRow {
  id: string;
  organization_id: string;
  name: string;
  public_id: string;
  scopes: string[];
  ip_allowlist: string[] | null;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
}

export interface NewKeyRow {
  id: string;
  name: string;
  public_id: string;
  hash: Buffer;
  scopes: Scope[];
  ip_allowlist: string[] | null;
  expires_at: Date | null;
}

export interface KeyChanges {
  name?: string;
  scopes?: Scope[];
  ip_allowlist?: string[] | null;
  expires_at?: Date | null;
}

export async function organizationExists(db: Database, organizationId: string): Promise<boolean> {
  const row = await db.selectFrom('organizations').select('id').where('id', '=', organizationId).executeTakeFirst();
  return row !== undefined;
}

export async function insertKey(trx: DatabaseTransaction, organizationId: string, key: NewKeyRow): Promise<KeyRow> {
  const row = { ...key, organization_id: organizationId };
  return trx.insertInto('api_keys').values(row).returning(columns).executeTakeFirstOrThrow();
}

/** Keys in force or expired; a revoked one is gone. */
export async function listKeys(db: Database, organizationId: string, page: PageQuestion) {
  return db
    .selectFrom('api_keys')
    .select([...columns, positionOf('created_at')])
    .where('organization_id', '=', organizationId)
    .where('revoked_at', 'is', null)
    .where(isAfter(page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute();
}

/**
 * Finds a key in force or expired, and nobody else changes it until the transaction ends. Internal callers name a key by
 * its id alone, of whatever organization.
 */
export async function lockKey(trx: DatabaseTransaction, id: string): Promise<KeyRow | undefined> {
  return trx
    .selectFrom('api_keys')
    .select(columns)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
}

export async function updateKey(trx: DatabaseTransaction, id: string, changes: KeyChanges): Promise<KeyRow> {
  return trx.updateTable('api_keys').set(changes).where('id', '=', id).returning(columns).executeTakeFirstOrThrow();
}

export async function revokeKey(trx: DatabaseTransaction, id: string): Promise<void> {
  await trx.updateTable('api_keys').set({ revoked_at: sql<Date>`clock_timestamp()` }).where('id', '=', id).execute();
}
