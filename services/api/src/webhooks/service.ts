import { randomBytes } from 'node:crypto';
import type { Change } from '@enterprise-api/shared/changes';
import {
  type CreateWebhook,
  type ListWebhooksQuery,
  maxWebhooksPerOrganization,
  type UpdateWebhook,
  type Webhook,
  type WebhookWithSecret,
  webhookSecretContext,
} from '@enterprise-api/shared/contracts';
import type { Database, DatabaseTransaction } from '@enterprise-api/shared/db';
import { newUuid } from '@enterprise-api/shared/runtime';
import { type AddressPolicy, checkOutboundUrl, type SecretBox } from '@enterprise-api/shared/security';
import type { Cursors } from '../http/cursor.ts';
import { isProblem, type Problem, problem } from '../http/errors.ts';
import { type PageQuestion, paginate } from '../http/paging.ts';
import { presentWebhook } from './present.ts';
import {
  cancelPending,
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

export interface WebhookServiceOptions {
  db: Database;
  secretBox: Pick<SecretBox, 'seal'>;
  addressPolicy: AddressPolicy;
  cursors: Cursors;
  /** Tells every process that a webhook is not what it was. */
  announce: (change: Change) => Promise<void>;
}

export type WebhookService = ReturnType<typeof createWebhookService>;

const secretBytes = 32;
/** What a request cancels itself; the workers cancel the rest. */
const canceledAtOnce = 1_000;

export function createWebhookService({ db, secretBox, addressPolicy, cursors, announce }: WebhookServiceOptions) {
  const changed = (id: string) => announce({ kind: 'webhook', id });
  return {
    create: async (organizationId: string, input: CreateWebhook): Promise<WebhookWithSecret | Problem> => {
      const refused = urlProblem(input.url, addressPolicy);
      if (refused !== null) return refused;
      const id = newUuid();
      const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`;
      const enabled = input.enabled ?? true;
      const row = await db.transaction().execute(async (trx) => {
        await lockOrganization(trx, organizationId);
        if ((await countWebhooks(trx, organizationId)) >= maxWebhooksPerOrganization) return tooMany();
        return insertWebhook(trx, organizationId, {
          id,
          url: input.url,
          event_patterns: input.events,
          description: input.description ?? null,
          state: enabled ? 'enabled' : 'disabled',
          disabled_reason: enabled ? null : 'manual',
          secret_sealed: secretBox.seal(secret, webhookSecretContext(organizationId, id)),
        });
      });
      if (isProblem(row)) return row;
      await changed(id);
      return { ...presentWebhook(row), secret };
    },

    list: (organizationId: string, { enabled, ...request }: ListWebhooksQuery) => {
      const scope = { list: 'webhooks', organizationId, filters: { enabled } };
      const ask = (page: PageQuestion) => listWebhooks(db, organizationId, page, { enabled });
      return paginate(cursors, request, scope, ask, presentWebhook);
    },

    get: async (organizationId: string, id: string): Promise<Webhook | Problem> => {
      const row = await findWebhook(db, organizationId, id);
      return row === undefined ? problem('not_found') : presentWebhook(row);
    },

    update: async (organizationId: string, id: string, input: UpdateWebhook): Promise<Webhook | Problem> => {
      const refused = input.url === undefined ? null : urlProblem(input.url, addressPolicy);
      if (refused !== null) return refused;
      const row = await db.transaction().execute(async (trx) => {
        const before = await lockWebhook(trx, organizationId, id);
        if (before === undefined) return problem('not_found');
        await applyUpdate(trx, organizationId, before, input);
        return (await findWebhook(trx, organizationId, id)) ?? problem('not_found');
      });
      if (isProblem(row)) return row;
      await changed(id);
      return presentWebhook(row);
    },

    remove: async (organizationId: string, id: string): Promise<Problem | undefined> => {
      const found = await db.transaction().execute(async (trx) => {
        if ((await lockWebhook(trx, organizationId, id)) === undefined) return false;
        await updateWebhook(trx, organizationId, id, { state: 'deleted' });
        await cancelPending(trx, id, { includeTests: true, limit: canceledAtOnce });
        return true;
      });
      if (!found) return problem('not_found');
      await changed(id);
      return undefined;
    },
  };
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
  await updateWebhook(trx, organizationId, before.id, changes);
  if (moves) await recordUrl(trx, before.id);
  if (enables) await cancelPending(trx, before.id, { includeTests: false, limit: null });
  if (disables) await cancelPending(trx, before.id, { includeTests: false, limit: canceledAtOnce });
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
