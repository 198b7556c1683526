import {
  type CreateWebhook,
  type ListWebhooksQuery,
  maxWebhooksPerOrganization,
  type UpdateWebhook,
  type Webhook,
  type WebhookWithSecret,
} from '@enterprise-api/shared/contracts';
import { cancelBatchSize, cancelPending, type Database, type DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { newUuid } from '@enterprise-api/shared/runtime';
import { type AddressPolicy, checkOutboundUrl, type SecretBox } from '@enterprise-api/shared/security';
import { changedFields } from '../core/changed-fields.ts';
import { isProblem, type Problem, problem } from '../core/problem.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { type IfMatch, isStale, type Tagged, versionTag } from '../http/routing/etag.ts';
import type { Cursors } from '../pagination/cursor.ts';
import { type PageQuestion, paginate } from '../pagination/paging.ts';
import { presentWebhook } from './present.ts';
import {
  countWebhooks,
  findWebhook,
  insertWebhook,
  listWebhooks,
  lockOrganization,
  lockWebhook,
  recordUrl,
  resetHealth,
  updateWebhook,
  type WebhookChanges,
  type WebhookRow,
} from './queries.ts';
import { createWebhookSecrets } from './secrets.ts';

export interface WebhookServiceOptions {
  db: Database;
  secretBox: Pick<SecretBox, 'seal'>;
  addressPolicy: AddressPolicy;
  cursors: Cursors;
}

export type WebhookService = ReturnType<typeof createWebhookService>;

/** What a request cancels itself of a webhook that it disables or deletes; the workers cancel the rest. */
const firstBatch = { limit: cancelBatchSize, locked: 'wait' } as const;
const auditedFields = ['url', 'events', 'description', 'enabled', 'disabled_reason'] as const;

export function createWebhookService({ db, secretBox, addressPolicy, cursors }: WebhookServiceOptions) {
  const secrets = createWebhookSecrets(secretBox);
  return {
    rotateSecret: secrets.rotate,

    create: async (
      transact: Transact,
      organizationId: string,
      input: CreateWebhook,
    ): Promise<Tagged<WebhookWithSecret> | Problem> => {
      const refused = urlProblem(input.url, addressPolicy);
      if (refused !== null) return refused;
      const id = newUuid();
      const { secret, sealed } = secrets.create(organizationId, id);
      const enabled = input.enabled ?? true;
      return transact(async ({ trx, changed }) => {
        await lockOrganization(trx, organizationId);
        if ((await countWebhooks(trx, organizationId)) >= maxWebhooksPerOrganization) return tooMany();
        const row = await insertWebhook(trx, organizationId, {
          id,
          url: input.url,
          event_patterns: input.events,
          description: input.description ?? null,
          state: enabled ? 'enabled' : 'disabled',
          disabled_reason: enabled ? null : 'manual',
          secret_sealed: sealed,
        });
        const fields = changedFields(null, presentWebhook(row), auditedFields);
        await changed({ action: 'webhook.created', objectId: id, organizationId, changedFields: fields });
        return { etag: versionTag(row.version), tagged: { ...presentWebhook(row), secret } };
      });
    },

    list: (organizationId: string, { enabled, ...request }: ListWebhooksQuery) => {
      const scope = { list: 'webhooks', organizationId, filters: { enabled } };
      const ask = (page: PageQuestion) => listWebhooks(db, organizationId, page, { enabled });
      return paginate(cursors, request, scope, ask, presentWebhook);
    },

    get: async (organizationId: string, id: string): Promise<Tagged<Webhook> | Problem> => {
      const row = await findWebhook(db, organizationId, id);
      return row === undefined ? problem('not_found') : presentTagged(row);
    },

    update: (
      transact: Transact,
      { organizationId, id, ifMatch }: Place,
      input: UpdateWebhook,
    ): Promise<Tagged<Webhook> | Problem> | Problem => {
      const refused = input.url === undefined ? null : urlProblem(input.url, addressPolicy);
      if (refused !== null) return refused;
      return transact(async ({ trx, changed }) => {
        const before = await lockSeen(trx, { organizationId, id, ifMatch });
        if (isProblem(before)) return before;
        await applyUpdate(trx, organizationId, before, input);
        const after = await findWebhook(trx, organizationId, id);
        if (after === undefined) return problem('not_found');
        const fields = changedFields(presentWebhook(before), presentWebhook(after), auditedFields);
        await changed({ action: 'webhook.updated', objectId: id, organizationId, changedFields: fields });
        return presentTagged(after);
      });
    },

    remove: (transact: Transact, { organizationId, id, ifMatch }: Place): Promise<Problem | undefined> =>
      transact(async ({ trx, changed }) => {
        const before = await lockSeen(trx, { organizationId, id, ifMatch });
        if (isProblem(before)) return before;
        await updateWebhook(trx, organizationId, id, { state: 'deleted' });
        await cancelPending(trx, [id], firstBatch);
        await changed({ action: 'webhook.deleted', objectId: id, organizationId, changedFields: [] });
        return undefined;
      }),
  };
}

/** Which webhook, and what the client has seen of it. */
interface Place {
  organizationId: string;
  id: string;
  ifMatch: IfMatch | null;
}

/** Locks the webhook before its version is compared: of two who have seen the same one, the second is too late. */
async function lockSeen(
  trx: DatabaseTransaction,
  { organizationId, id, ifMatch }: Place,
): Promise<WebhookRow | Problem> {
  const row = await lockWebhook(trx, organizationId, id);
  if (row === undefined) return problem('not_found');
  return isStale(ifMatch, row.version) ? problem('precondition_failed') : row;
}

function presentTagged(row: WebhookRow): Tagged<Webhook> {
  return { etag: versionTag(row.version), tagged: presentWebhook(row) };
}

/**
 * Locks go webhook → deliveries → health, the order in which the workers' outcomes take the latter two. Enabling first
 * cancels all that is left from before: nothing of the time when it was disabled is sent later.
 */
async function applyUpdate(
  trx: DatabaseTransaction,
  organizationId: string,
  before: WebhookRow,
  input: UpdateWebhook,
): Promise<void> {
  const enables = input.enabled === true && before.state === 'disabled';
  const disables = input.enabled === false && before.state === 'enabled';
  const moves = input.url !== undefined && input.url !== before.url;
  const changes: WebhookChanges = {
    ...(input.url !== undefined && { url: input.url }),
    ...(input.events !== undefined && { event_patterns: input.events }),
    ...(input.description !== undefined && { description: input.description }),
    ...(enables && { state: 'enabled', disabled_reason: null }),
    ...(disables && { state: 'disabled', disabled_reason: 'manual' }),
  };
  if (enables) await cancelPending(trx, [before.id], { limit: null, locked: 'wait' });
  await updateWebhook(trx, organizationId, before.id, changes);
  if (moves) await recordUrl(trx, before.id);
  if (disables) await cancelPending(trx, [before.id], firstBatch);
  if (enables || disables || moves) await resetHealth(trx, before.id);
}

function urlProblem(url: string, policy: AddressPolicy): Problem | null {
  const check = checkOutboundUrl(url, policy);
  if (check.ok) return null;
  const detail = { location: 'body', path: 'url', code: 'url_not_allowed', message: check.reason } as const;
  return problem('url_not_allowed', { message: check.reason, param: 'url', details: [detail] });
}

function tooMany(): Problem {
  return problem('limit_reached', {
    message: `An organization has at most ${maxWebhooksPerOrganization} webhooks. Delete one first.`,
  });
}
