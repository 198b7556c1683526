import type {
  CloseOrganization,
  CreateOrganization,
  DeliveryPolicy,
  ListOrganizationsQuery,
  Organization,
  UpdateOrganization,
} from '@enterprise-api/shared/contracts';
import { type Database, type DatabaseTransaction, deleteWebhooksOf } from '@enterprise-api/shared/ledger';
import { newUuid, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { fieldChanges } from '../core/field-changes.ts';
import { organizationClosed } from '../core/require-active.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { invalid, type Problem, problem } from '../http/problem.ts';
import { type Cursors, type PageQuestion, paginate } from '../pagination/paging.ts';
import {
  closeOrganization,
  endSessionsOf,
  findByExternalId,
  findOrganization,
  insertOrganization,
  listOrganizations,
  lockExternalId,
  lockOrganization,
  type OrganizationRow,
  updateOrganization,
} from './queries.ts';

export type OrganizationService = ReturnType<typeof createOrganizationService>;

const givenFields = ['name', 'plan', 'external_id'] as const;
const auditedFields = [...givenFields, 'body_retention_seconds', 'operator'] as const;

interface OrganizationServiceOptions {
  db: Database;
  cursors: Cursors;
  deliveryPolicy: DeliveryPolicy;
}

export function createOrganizationService({ db, cursors, deliveryPolicy }: OrganizationServiceOptions) {
  const longest = deliveryPolicy.body_retention_seconds ?? Number.POSITIVE_INFINITY;
  return {
    create: (transact: Transact, input: CreateOrganization): Promise<Organization | Problem> =>
      transact(async ({ trx, changed }) => {
        const id = newUuid();
        if (await isTaken(trx, input.external_id, id)) return externalIdTaken;
        const shown = present(await insertOrganization(trx, { id, ...input }));
        const fields = fieldChanges(null, shown, givenFields);
        await changed({ action: 'organization.created', objectId: id, organizationId: id, ...fields });
        return shown;
      }),

    exists: async (trx: DatabaseTransaction, id: Uuid) => (await findOrganization(trx, id)) !== undefined,

    list: ({ external_id, ...request }: ListOrganizationsQuery) => {
      const scope = { list: 'organizations', organizationId: null, filters: { external_id } };
      const ask = (page: PageQuestion) => listOrganizations(db, page, external_id);
      return paginate(cursors, request, scope, ask, present);
    },

    get: async (id: Uuid): Promise<Organization | Problem> => {
      const row = await findOrganization(db, id);
      return row === undefined ? problem('not_found') : present(row);
    },

    update: (transact: Transact, id: Uuid, changes: UpdateOrganization): Promise<Organization | Problem> =>
      transact(async ({ trx, changed }) => {
        if ((changes.body_retention_seconds ?? 0) > longest) return longerThan(longest);
        const before = await lockOrganization(trx, id);
        if (before === undefined) return problem('not_found');
        if (before.state !== 'active') return organizationClosed;
        if (await isTaken(trx, changes.external_id, id)) return externalIdTaken;
        const shown = present(await updateOrganization(trx, id, changes));
        const fields = fieldChanges(present(before), shown, auditedFields);
        await changed({ action: 'organization.updated', objectId: id, organizationId: id, ...fields });
        return shown;
      }),

    close: (transact: Transact, id: Uuid, input: CloseOrganization): Promise<Organization | Problem> | Problem => {
      if (input.confirm !== toPublicId('org', id)) return notConfirmed;
      return transact(async ({ trx, changed, due }) => {
        const before = await lockOrganization(trx, id);
        if (before === undefined) return problem('not_found');
        if (before.state !== 'active') return present(before);
        const shown = present(await closeOrganization(trx, id, input.erase_after));
        await endSessionsOf(trx, id);
        for (const webhookId of await deleteWebhooksOf(trx, id)) due(webhookId);
        const fields = fieldChanges(present(before), shown, ['external_id', 'state']);
        await changed({ action: 'organization.closed', objectId: id, organizationId: id, ...fields });
        return shown;
      });
    },
  };
}

const notConfirmed = invalid([
  { location: 'body', path: 'confirm', code: 'invalid_value', message: 'must be the id of the organization' },
]);

function longerThan(seconds: number): Problem {
  const message = `must be at most ${seconds}, the setting RETENTION_BODIES`;
  return invalid([{ location: 'body', path: 'body_retention_seconds', code: 'too_big', message }]);
}

const externalIdTaken = problem('conflict', { message: 'Another organization has this external_id.' });

/** Locks the external id first, so that no other organization can take it until the transaction ends. */
async function isTaken(
  trx: DatabaseTransaction,
  externalId: string | null | undefined,
  organizationId: Uuid,
): Promise<boolean> {
  if (externalId === undefined || externalId === null) return false;
  await lockExternalId(trx, externalId);
  const owner = await findByExternalId(trx, externalId);
  return owner !== undefined && owner !== organizationId;
}

function present(row: OrganizationRow): Organization {
  return {
    id: toPublicId('org', row.id),
    object: 'organization',
    name: row.name || null,
    plan: row.plan,
    external_id: row.external_id,
    body_retention_seconds: row.body_retention_seconds,
    operator: row.operator,
    state: row.state,
    closed_at: row.closed_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  };
}
