import type { Plan, Scope } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

export interface StoredKey {
  id: Uuid;
  hash: Buffer;
  name: string;
  publicId: string;
  scopes: Scope[];
  ipAllowlist: string[] | null;
  createdAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  organization: { id: Uuid; name: string; plan: Plan };
}

/** Finds a key of an active organization by its SHA-256. Only this query takes no organization, because the key's row names it. */
export async function findKeyByHash(db: Database, hash: Buffer): Promise<StoredKey | null> {
  const row = await db
    .selectFrom('api_keys')
    .innerJoin('organizations', 'organizations.id', 'api_keys.organization_id')
    .selectAll('api_keys')
    .select(['organizations.name as organization_name', 'organizations.plan'])
    .where('hash', '=', hash)
    .where('revoked_at', 'is', null)
    .where('organizations.state', '=', 'active')
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    id: row.id,
    hash: row.hash,
    name: row.name,
    publicId: row.public_id,
    scopes: row.scopes as Scope[],
    ipAllowlist: row.ip_allowlist,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    organization: { id: row.organization_id, name: row.organization_name, plan: row.plan },
  };
}

/**
 * Records the last use of keys. Locks rows in id order. Skips a key if its recorded use is less than 50 s older than
 * the new one.
 */
export async function markKeysUsed(db: Database, uses: readonly { keyId: Uuid; usedAt: Date }[]): Promise<void> {
  await sql`
    with used as materialized (
      select k.id, x.used_at
      from unnest(${uses.map((use) => use.keyId)}::uuid[], ${uses.map((use) => use.usedAt.toISOString())}::timestamptz[])
        as x(id, used_at)
      join api_keys k on k.id = x.id
      where k.last_used_at is null or k.last_used_at < x.used_at - interval '50 seconds'
      order by k.id for update of k
    )
    update api_keys k set last_used_at = used.used_at from used where k.id = used.id`.execute(db);
}
