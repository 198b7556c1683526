import { hash, randomBytes } from 'node:crypto';
import type {
  ApiKey,
  CreateApiKey,
  CreatedApiKey,
  ErrorDetail,
  Scope,
  UpdateApiKey,
} from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { newUuid, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { canonicalCidr } from '@enterprise-api/shared/security';
import { generateKey, keyPrefix } from '../auth/key-format.ts';
import { fieldChanges, noFieldChanges } from '../core/field-changes.ts';
import { requireActive } from '../core/require-active.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { invalid, isProblem, type Problem, problem } from '../http/problem.ts';
import { type Cursors, type PageQuestion, paginate } from '../pagination/paging.ts';
import {
  findKey,
  insertKey,
  type KeyName,
  type KeyRow,
  listKeys,
  lockKey,
  organizationExists,
  revokeKey,
  updateKey,
} from './queries.ts';

export type ApiKeyService = ReturnType<typeof createApiKeyService>;

const auditedFields = ['name', 'scopes', 'ip_allowlist', 'expires_at'] as const;

export function createApiKeyService({ db, cursors }: { db: Database; cursors: Cursors }) {
  return {
    organizationExists,

    create: (transact: Transact, organizationId: Uuid, input: CreateApiKey) => {
      const ip_allowlist = canonicalAllowlist(input.ip_allowlist);
      return isProblem(ip_allowlist) ? ip_allowlist : createKey(transact, organizationId, { ...input, ip_allowlist });
    },

    list: async (organizationId: Uuid, request: { cursor?: string | undefined; limit: number }) => {
      if (!(await organizationExists(db, organizationId))) return problem('not_found');
      const scope = { list: 'keys', organizationId, filters: {} };
      return paginate(cursors, request, scope, (page: PageQuestion) => listKeys(db, organizationId, page), present);
    },

    get: async (name: KeyName): Promise<ApiKey | Problem> => {
      const row = await findKey(db, name);
      return row === undefined ? problem('not_found') : present(row);
    },

    update: async (transact: Transact, name: KeyName, input: UpdateApiKey): Promise<ApiKey | Problem> => {
      const ip_allowlist = canonicalAllowlist(input.ip_allowlist);
      if (isProblem(ip_allowlist)) return ip_allowlist;
      return transact(async ({ trx, changed }) => {
        const before = await lockKey(trx, name);
        if (before === undefined) return problem('not_found');
        const refused = await requireActive(trx, before.organization_id);
        if (refused !== undefined) return refused;
        const { id } = before;
        const shown = present(await updateKey(trx, id, { ...input, ip_allowlist }));
        const fields = fieldChanges(present(before), shown, auditedFields);
        const organizationId = before.organization_id;
        await changed({ action: 'api_key.updated', objectId: id, organizationId, ...fields });
        return shown;
      });
    },

    revoke: (transact: Transact, name: KeyName): Promise<Problem | undefined> =>
      transact(async ({ trx, changed }) => {
        const before = await lockKey(trx, name);
        if (before === undefined) return problem('not_found');
        const { id, organization_id: organizationId } = before;
        const refused = await requireActive(trx, organizationId);
        if (refused !== undefined) return refused;
        await revokeKey(trx, id);
        await changed({ action: 'api_key.deleted', objectId: id, organizationId, ...noFieldChanges });
        return undefined;
      }),
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
      expires_at: input.expires_at ?? null,
    });
    const fields = fieldChanges(null, present(row), auditedFields);
    await changed({ action: 'api_key.created', objectId: row.id, organizationId, ...fields });
    return { ...present(row), secret };
  });
}

/** Removes duplicate ranges. Null means no restriction. */
function canonicalAllowlist<None extends null | undefined>(
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
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
  };
}
