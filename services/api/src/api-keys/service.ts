import { hash, randomBytes } from 'node:crypto';
import type {
  ApiKey,
  CreateApiKey,
  CreatedApiKey,
  ErrorDetail,
  ListApiKeysQuery,
  Scope,
  UpdateApiKey,
} from '@enterprise-api/shared/contracts';
import { type Database, skipPastExpiry } from '@enterprise-api/shared/ledger';
import { newUuid, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { canonicalCidr } from '@enterprise-api/shared/security';
import type { Principal } from '../auth/judge.ts';
import { generateKey, keyPrefix } from '../auth/key-format.ts';
import { type FieldChanges, fieldChanges, noFieldChanges } from '../core/field-changes.ts';
import { findOrganizationState, requireActive } from '../core/require-active.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { challenges, invalid, isProblem, type Problem, problem } from '../http/problem.ts';
import { type Cursors, type PageQuestion, paginate } from '../pagination/paging.ts';
import {
  findKey,
  insertKey,
  type KeyName,
  type KeyRow,
  listKeys,
  lockKey,
  noOutsideUses,
  revokeKey,
  updateKey,
} from './queries.ts';

export type ApiKeyService = ReturnType<typeof createApiKeyService>;

const auditedFields = ['name', 'scopes', 'ip_allowlist', 'ip_allowlist_mode', 'expires_at'] as const;

const organizationExists = async (db: Database, id: Uuid) => (await findOrganizationState(db, id)) !== undefined;

export function createApiKeyService({ db, cursors }: { db: Database; cursors: Cursors }) {
  const revoke = (transact: Transact, name: KeyName, fields: FieldChanges = noFieldChanges) =>
    transact(async ({ trx, changed }): Promise<Problem | undefined> => {
      const before = await lockKey(trx, name);
      if (before === undefined) return problem('not_found');
      const { id, organization_id: organizationId } = before;
      const refused = await requireActive(trx, organizationId);
      if (refused !== undefined) return refused;
      await revokeKey(trx, id);
      await changed({ action: 'api_key.deleted', objectId: id, organizationId, ...fields });
      return undefined;
    });
  return {
    revoke,

    /** Revokes the key that authenticated the request. The audit log shows the client's address. */
    revokeOwn: async (transact: Transact, { key, address }: Principal): Promise<Problem | undefined> => {
      const asked = fieldChanges({ address: null }, { address }, ['address']);
      const refused = await revoke(transact, { id: key.id, organizationId: key.organization.id }, asked);
      return refused && problem('unauthorized', { headers: challenges.invalid });
    },

    organizationExists,

    create: (transact: Transact, organizationId: Uuid, input: CreateApiKey) => {
      const ip_allowlist = canonicalAllowlist(input.ip_allowlist);
      return isProblem(ip_allowlist) ? ip_allowlist : createKey(transact, organizationId, { ...input, ip_allowlist });
    },

    list: async (organizationId: Uuid, { cursor, limit, ...filters }: ListApiKeysQuery) => {
      if (!(await organizationExists(db, organizationId))) return problem('not_found');
      const filter = { expiresBefore: filters.expires_before, unusedSince: filters.unused_since };
      const ask = (page: PageQuestion) => listKeys(db, organizationId, page, filter);
      return paginate(cursors, { cursor, limit }, { list: 'keys', organizationId, filters }, ask, present);
    },

    get: async (name: KeyName): Promise<ApiKey | Problem> => {
      const row = await findKey(db, name);
      return row === undefined ? problem('not_found') : present(row);
    },

    /** @param refuse may refuse the change; runs while the key is locked, so that nobody else changes the key */
    update: async (
      transact: Transact,
      name: KeyName,
      input: UpdateApiKey,
      refuse: (before: ApiKey) => Problem | null = () => null,
    ): Promise<ApiKey | Problem> => {
      const ip_allowlist = canonicalAllowlist(input.ip_allowlist);
      if (isProblem(ip_allowlist)) return ip_allowlist;
      return transact(async ({ trx, changed }) => {
        const before = await lockKey(trx, name);
        if (before === undefined) return problem('not_found');
        const refused = (await requireActive(trx, before.organization_id)) ?? refuse(present(before));
        if (refused) return refused;
        const { id } = before;
        const isOtherList = ip_allowlist !== undefined && String(ip_allowlist) !== String(before.ip_allowlist);
        const changes = { ...input, ip_allowlist, ...(isOtherList && noOutsideUses) };
        const shown = present(await updateKey(trx, id, changes));
        if (String(shown.expires_at) !== String(present(before).expires_at)) await skipPastExpiry(trx, id);
        const fields = fieldChanges(present(before), shown, auditedFields);
        const organizationId = before.organization_id;
        await changed({ action: 'api_key.updated', objectId: id, organizationId, ...fields });
        return shown;
      });
    },
  };
}

/** @param input with a canonical allowlist */
function createKey(transact: Transact, organizationId: Uuid, input: CreateApiKey): Promise<CreatedApiKey | Problem> {
  return transact(async ({ trx, changed }) => {
    const refused = await requireActive(trx, organizationId);
    if (refused !== undefined) return refused;
    const { secret, publicId } = generateKey(randomBytes);
    const row = await insertKey(trx, organizationId, {
      id: newUuid(),
      name: input.name,
      public_id: publicId,
      hash: hash('sha256', secret, 'buffer'),
      scopes: input.scopes,
      ip_allowlist: input.ip_allowlist ?? null,
      ip_allowlist_mode: input.ip_allowlist_mode,
      expires_at: input.expires_at ?? null,
    });
    const shown = present(row);
    await skipPastExpiry(trx, row.id);
    const given = { ...shown, ip_allowlist_mode: input.ip_allowlist_mode };
    const fields = fieldChanges(null, given, auditedFields);
    await changed({ action: 'api_key.created', objectId: row.id, organizationId, ...fields });
    return { ...shown, secret };
  });
}

/** Removes duplicate ranges. Null means no restriction. */
export function canonicalAllowlist<None extends null | undefined>(
  entries: readonly string[] | None,
): string[] | None | Problem {
  if (!entries) return entries;
  const details: ErrorDetail[] = [];
  const ranges = entries.map((entry, index) => {
    const range = canonicalCidr(entry);
    const message = 'must be an IP address or a range in CIDR notation';
    if (range === null)
      details.push({ location: 'body', path: `ip_allowlist[${index}]`, code: 'invalid_format', message });
    return range ?? '';
  });
  return details.length > 0 ? invalid(details) : [...new Set(ranges)];
}

function present(row: KeyRow): ApiKey {
  return {
    id: toPublicId('key', row.id),
    object: 'api_key',
    organization_id: toPublicId('org', row.organization_id),
    name: row.name || null,
    key_prefix: keyPrefix(row.public_id),
    scopes: row.scopes as Scope[],
    ip_allowlist: row.ip_allowlist,
    ip_allowlist_mode: row.ip_allowlist_mode,
    outside_allowlist: row.ip_allowlist_mode === 'enforce' ? null : presentOutsideUses(row),
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    last_used_address: row.last_used_address,
    last_used_user_agent: row.last_used_user_agent,
  };
}

function presentOutsideUses(row: KeyRow): ApiKey['outside_allowlist'] {
  return {
    count: row.outside_count,
    last_at: row.outside_last_at?.toISOString() ?? null,
    addresses: row.outside_addresses ?? [],
  };
}
