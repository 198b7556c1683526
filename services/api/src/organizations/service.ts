import type { Change } from '@enterprise-api/shared/changes';
import type { Organization, Plan } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/db';
import { newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import type { Cursors } from '../http/cursor.ts';
import { type Problem, problem } from '../http/errors.ts';
import { type PageQuestion, paginate } from '../http/paging.ts';
import {
  findExistingOrganizations,
  findOrganization,
  insertOrganization,
  listOrganizations,
  type OrganizationRow,
  updateOrganization,
} from './queries.ts';

export interface OrganizationServiceOptions {
  db: Database;
  cursors: Cursors;
  /** Tells every process that an organization is not what it was. */
  announce: (change: Change) => Promise<void>;
}

export type OrganizationService = ReturnType<typeof createOrganizationService>;

export function createOrganizationService({ db, cursors, announce }: OrganizationServiceOptions) {
  return {
    create: async (input: { name: string; plan: Plan }): Promise<Organization> =>
      present(await insertOrganization(db, { id: newUuid(), ...input })),

    list: (request: { cursor?: string | undefined; limit: number }) => {
      const scope = { list: 'organizations', organizationId: null, filters: {} };
      return paginate(cursors, request, scope, (page: PageQuestion) => listOrganizations(db, page), present);
    },

    get: async (id: string): Promise<Organization | Problem> => {
      const row = await findOrganization(db, id);
      return row === undefined ? problem('not_found') : present(row);
    },

    update: async (id: string, changes: { name?: string | undefined; plan?: Plan | undefined }) => {
      const row = await updateOrganization(db, id, changes);
      if (row === undefined) return problem('not_found');
      await announce({ kind: 'organization', id });
      return present(row);
    },
  };
}

/** More than this many are not remembered: forgetting costs a query, no more. */
const maxKnown = 100_000;

/**
 * Tells which organizations do not exist. Those that do are remembered for good: an organization is never deleted.
 */
export function createOrganizationDirectory(db: Database): (ids: Iterable<string>) => Promise<Set<string>> {
  const known = new Set<string>();
  return async (ids) => {
    const missing = new Set<string>();
    for (const id of ids) if (!known.has(id)) missing.add(id);
    if (missing.size === 0) return missing;
    for (const id of await findExistingOrganizations(db, [...missing])) {
      missing.delete(id);
      if (known.size < maxKnown) known.add(id);
    }
    return missing;
  };
}

function present(row: OrganizationRow): Organization {
  return {
    id: toPublicId('org', row.id),
    object: 'organization',
    name: row.name,
    plan: row.plan,
    created_at: row.created_at.toISOString(),
  };
}
