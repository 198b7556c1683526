import { type ConsoleScope, outsideAddressesShown, type Plan, type Scope } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import { hasScope } from './scopes.ts';

export interface StoredKey {
  id: Uuid;
  hash: Buffer;
  name: string;
  publicId: string;
  scopes: Scope[];
  ipAllowlist: string[] | null;
  ipAllowlistMode: 'enforce' | 'report';
  createdAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  organization: { id: Uuid; name: string; plan: Plan; bodyRetentionSeconds: number | null };
  /** Only for a session of the console, which has the rights of a key. `id` is then the session's. */
  session?: StoredSession;
}

interface StoredSession {
  /** Null if a service of this API's owner created the link, and not a key. */
  keyId: Uuid | null;
  label: string | null;
  showBodies: boolean;
  linkReusedAt: Date | null;
}

/** Finds a key of an active organization by its SHA-256. Takes no organization, because the key's row names it. */
export async function findKeyByHash(db: Database, hash: Buffer): Promise<StoredKey | null> {
  const row = await db
    .selectFrom('api_keys')
    .innerJoin('organizations', 'organizations.id', 'api_keys.organization_id')
    .selectAll('api_keys')
    .select(['organizations.name as organization_name', 'organizations.plan', 'organizations.body_retention_seconds'])
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
    ipAllowlistMode: row.ip_allowlist_mode,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    organization: {
      id: row.organization_id,
      name: row.organization_name,
      plan: row.plan,
      bodyRetentionSeconds: row.body_retention_seconds,
    },
  };
}

export interface KeyUse {
  keyId: Uuid;
  usedAt: Date;
  address: string;
  userAgent: string | null;
}

/**
 * Records the last use of keys. Locks rows in id order. Skips a key whose recorded use is less than a minute older than
 * the new use. Skips keys of closed organizations, because an erasure removes their recorded uses.
 */
export async function markKeysUsed(db: Database, uses: readonly KeyUse[]): Promise<void> {
  await sql`
    with used as materialized (
      select k.id, x."usedAt", x.address, x."userAgent"
      from json_to_recordset(${JSON.stringify(uses)})
        as x("keyId" uuid, "usedAt" timestamptz, address text, "userAgent" text)
      join api_keys k on k.id = x."keyId"
      join organizations o on o.id = k.organization_id and o.state = 'active'
      where k.last_used_at is null or k.last_used_at <= x."usedAt" - interval '1 minute'
      order by k.id for update of k
    )
    update api_keys k
    set last_used_at = used."usedAt", last_used_address = used.address, last_used_user_agent = used."userAgent"
    from used where k.id = used.id`.execute(db);
}

/** Requests of a key from outside its allowlist, in the mode `report`. */
export interface OutsideUses {
  keyId: Uuid;
  allowlist: readonly string[];
  count: number;
  lastAt: Date;
  /** Newest first. */
  addresses: readonly string[];
}

/**
 * Adds requests to the counts in the keys' rows. Skips keys whose allowlist or mode has changed meanwhile, and keys of
 * closed organizations.
 */
export async function addOutsideUses(db: Database, uses: readonly OutsideUses[]): Promise<void> {
  await sql`
    with used as materialized (
      select k.id, x.count, x."lastAt", x.addresses
      from json_to_recordset(${JSON.stringify(uses)})
        as x("keyId" uuid, allowlist text[], count bigint, "lastAt" timestamptz, addresses text[])
      join api_keys k on k.id = x."keyId"
      join organizations o on o.id = k.organization_id and o.state = 'active'
      where k.ip_allowlist_mode = 'report' and k.ip_allowlist = x.allowlist
      order by k.id for update of k
    )
    update api_keys k
    set outside_count = k.outside_count + used.count, outside_last_at = greatest(k.outside_last_at, used."lastAt"),
      outside_addresses = array(
        select address from unnest(used.addresses || k.outside_addresses) with ordinality as listed(address, place)
        group by address order by min(place) limit ${outsideAddressesShown})
    from used where k.id = used.id`.execute(db);
}

/**
 * Finds a live session of the console by the SHA-256 of its cookie, or of a link that still works. A session ends with
 * its key, and has no scope that its key has lost.
 */
export async function findSessionByHash(
  db: Database,
  credentialHash: Buffer,
  of: 'cookie_hash' | 'link_hash' = 'cookie_hash',
): Promise<StoredKey | null> {
  const row = await db
    .selectFrom('console_sessions as s')
    .innerJoin('organizations as o', 'o.id', 's.organization_id')
    .leftJoin('api_keys as k', 'k.id', 's.key_id')
    .selectAll('s')
    .select([
      'o.name',
      'o.plan',
      'o.body_retention_seconds',
      'k.scopes as key_scopes',
      'k.expires_at as key_expires_at',
    ])
    .select(['k.ip_allowlist as key_allowlist', 'k.ip_allowlist_mode as key_mode'])
    .where(`s.${of}`, '=', credentialHash)
    .where('s.ended_at', 'is', null)
    .where('k.revoked_at', 'is', null)
    .where('o.state', '=', 'active')
    .$if(of === 'link_hash', (query) =>
      query.where('s.entered_at', 'is', null).where('s.link_expires_at', '>', sql<Date>`now()`),
    )
    .executeTakeFirst();
  if (row === undefined) return null;
  const ends = [row.expires_at, row.key_expires_at].filter((time) => time !== null);
  return {
    id: row.id,
    hash: credentialHash,
    name: '',
    publicId: '',
    scopes: scopesWithin(row.scopes as ConsoleScope[], row.key_scopes as Scope[] | null) as Scope[],
    ipAllowlist: row.ip_allowlist ?? (row.key_mode === 'report' ? null : row.key_allowlist),
    ipAllowlistMode: 'enforce',
    createdAt: row.created_at,
    expiresAt: new Date(Math.min(...ends.map(Number))),
    lastUsedAt: null,
    organization: {
      id: row.organization_id,
      name: row.name,
      plan: row.plan,
      bodyRetentionSeconds: row.body_retention_seconds,
    },
    session: {
      keyId: row.key_id,
      label: row.label,
      showBodies: row.show_bodies,
      linkReusedAt: row.link_reused_at,
    },
  };
}

/** Returns the scopes of a session that its key still has. If `granted` is null, no key limits the session. */
function scopesWithin(scopes: readonly ConsoleScope[], granted: readonly Scope[] | null): ConsoleScope[] {
  if (granted === null) return [...scopes];
  if (scopes.includes('*')) return granted.includes('*') ? [...scopes] : [...granted];
  return scopes.filter((scope) => scope !== '*' && hasScope(granted, scope));
}
