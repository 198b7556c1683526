import type { UpdateApiKey } from '@enterprise-api/shared/contracts';
import type { Database, DatabaseTransaction, NewRow, Row } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
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
  'ip_allowlist_mode',
  'outside_count',
  'outside_last_at',
  'outside_addresses',
  'created_at',
  'expires_at',
  'last_used_at',
  'last_used_address',
  'last_used_user_agent',
] as const;

export type KeyRow = Pick<Row<'api_keys'>, (typeof columns)[number]>;

type NewKey = Pick<
  NewRow<'api_keys'>,
  'id' | 'name' | 'public_id' | 'hash' | 'scopes' | 'ip_allowlist' | 'ip_allowlist_mode' | 'expires_at'
>;

export async function insertKey(trx: DatabaseTransaction, organizationId: Uuid, key: NewKey): Promise<KeyRow> {
  const row = { ...key, organization_id: organizationId };
  return trx.insertInto('api_keys').values(row).returning(columns).executeTakeFirstOrThrow();
}

interface KeyFilter {
  expiresBefore: Date | undefined;
  unusedSince: Date | undefined;
}

/** Includes expired keys, but no revoked keys. */
export async function listKeys(db: Database, organizationId: Uuid, page: PageQuestion, filter: KeyFilter) {
  let query = db
    .selectFrom('api_keys')
    .select([...columns, positionOf('created_at')])
    .where('organization_id', '=', organizationId)
    .where('revoked_at', 'is', null)
    .where(isAfter(page));
  const { expiresBefore, unusedSince } = filter;
  if (expiresBefore !== undefined) query = query.where('expires_at', '<', expiresBefore);
  if (unusedSince !== undefined) query = query.where(sql`coalesce(last_used_at, created_at)`, '<', unusedSince);
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(page.limit).execute();
}

/** Internal callers name a key by its id alone, or by its id and organization. */
export interface KeyName {
  id: Uuid;
  organizationId?: Uuid;
}

/** Also finds an expired key, but no revoked key. */
export async function findKey(db: Database, name: KeyName): Promise<KeyRow | undefined> {
  return selectKey(db, name).executeTakeFirst();
}

export async function lockKey(trx: DatabaseTransaction, name: KeyName): Promise<KeyRow | undefined> {
  return selectKey(trx, name).forUpdate().executeTakeFirst();
}

function selectKey(db: Database, { id, organizationId }: KeyName) {
  const key = db.selectFrom('api_keys').select(columns).where('id', '=', id).where('revoked_at', 'is', null);
  return organizationId === undefined ? key : key.where('organization_id', '=', organizationId);
}

type OutsideUses = Pick<Row<'api_keys'>, 'outside_count' | 'outside_last_at' | 'outside_addresses'>;

/** The counts of a key whose allowlist has just changed. */
export const noOutsideUses: OutsideUses = { outside_count: 0, outside_last_at: null, outside_addresses: null };

type KeyChanges = UpdateApiKey & Partial<OutsideUses>;

export async function updateKey(trx: DatabaseTransaction, id: Uuid, changes: KeyChanges): Promise<KeyRow> {
  return trx.updateTable('api_keys').set(changes).where('id', '=', id).returning(columns).executeTakeFirstOrThrow();
}

export async function revokeKey(trx: DatabaseTransaction, id: Uuid): Promise<void> {
  await trx.updateTable('api_keys').set({ revoked_at: sql<Date>`clock_timestamp()` }).where('id', '=', id).execute();
}
