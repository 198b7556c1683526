import {
  type CreateWebhook,
  type ListWebhooksQuery,
  maxWebhooksPerOrganization,
  type UpdateWebhook,
  type Webhook,
  type WebhookWithSecret,
} from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { type Clock, newUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { type AddressPolicy, checkNewUrl, type SecretBox } from '@enterprise-api/shared/security';
import { requireActive } from '../core/require-active.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { isProblem, type Problem, problem } from '../http/problem.ts';
import { type Tagged, versionTag } from '../http/routing/etag.ts';
import { type Cursors, type PageQuestion, paginate } from '../pagination/paging.ts';
import {
  changeWebhook,
  deleteWebhook,
  headersForbidden,
  limitsOf,
  recoversWithHeaders,
  type WebhookTarget,
  webhookChanges,
} from './change.ts';
import { createPauses } from './pauses.ts';
import { presentTagged, presentWebhook } from './present.ts';
import { countWebhooks, findWebhook, insertWebhook, listWebhooks, lockOrganization, setLimits } from './queries.ts';
import { createWebhookSecrets, type WebhookSecrets } from './secrets.ts';

export interface WebhookServiceOptions {
  db: Database;
  secretBox: Pick<SecretBox, 'seal'>;
  addressPolicy: AddressPolicy;
  cursors: Cursors;
  clock: Pick<Clock, 'now'>;
}

export type WebhookService = ReturnType<typeof createWebhookService>;

export function createWebhookService({ db, secretBox, addressPolicy, cursors, clock }: WebhookServiceOptions) {
  const secrets = createWebhookSecrets(secretBox);
  return {
    create: (transact: Transact, organizationId: Uuid, input: CreateWebhook) => {
      const url = acceptUrl(input.url, addressPolicy);
      return isProblem(url) ? url : createWebhook(secrets, transact, organizationId, { ...input, url });
    },

    list: (organizationId: Uuid, { enabled, ...request }: ListWebhooksQuery) => {
      const scope = { list: 'webhooks', organizationId, filters: { enabled } };
      const ask = (page: PageQuestion) => listWebhooks(db, organizationId, page, enabled);
      return paginate(cursors, request, scope, ask, presentWebhook);
    },

    get: async (organizationId: Uuid, id: Uuid): Promise<Tagged<Webhook> | Problem> => {
      const row = await findWebhook(db, organizationId, id);
      return row === undefined ? problem('not_found') : presentTagged(row);
    },

    update: (transact: Transact, target: WebhookTarget, input: UpdateWebhook) => {
      const url = input.url === undefined ? undefined : acceptUrl(input.url, addressPolicy);
      if (isProblem(url)) return url;
      const sealed = input.headers && secrets.sealHeaders(target.organizationId, target.id, input.headers);
      return changeWebhook(transact, target, { ...input, ...(url !== undefined && { url }) }, sealed);
    },

    remove: deleteWebhook,
    rotateSecret: secrets.rotate,
    ...createPauses(clock),
  };
}

function createWebhook(
  secrets: WebhookSecrets,
  transact: Transact,
  organizationId: Uuid,
  input: CreateWebhook,
): Promise<Tagged<WebhookWithSecret> | Problem> {
  const id = newUuid();
  const { secret, sealed } = secrets.create(organizationId, id);
  const enabled = input.enabled ?? true;
  return transact(async ({ trx, changed }) => {
    await lockOrganization(trx, organizationId);
    // The organization may have been closed after its key was checked.
    if ((await requireActive(trx, organizationId)) !== undefined) return problem('unauthorized');
    if ((await countWebhooks(trx, organizationId)) >= maxWebhooksPerOrganization) return tooManyWebhooks;
    await insertWebhook(trx, organizationId, {
      id,
      url: input.url,
      event_patterns: input.events,
      description: input.description ?? null,
      state: enabled ? 'enabled' : 'disabled',
      disabled_reason: enabled ? null : 'manual',
      secret_sealed: sealed,
      auto_recover: input.auto_recover ?? false,
      ...secrets.sealHeaders(organizationId, id, input.headers),
    });
    const limits = limitsOf(input);
    if (limits !== null) await setLimits(trx, id, limits);
    const row = await findWebhook(trx, organizationId, id);
    if (row === undefined) return problem('not_found');
    if (recoversWithHeaders(row)) return headersForbidden(input);
    const fields = webhookChanges(null, row);
    await changed({ action: 'webhook.created', objectId: id, organizationId, ...fields });
    return { etag: versionTag(row.version), tagged: { ...presentWebhook(row), secret } };
  });
}

const tooManyWebhooks = problem('limit_reached', {
  message: `An organization has at most ${maxWebhooksPerOrganization} webhooks. Delete one first.`,
});

export async function webhookExists(db: Database, organizationId: Uuid, id: Uuid): Promise<boolean> {
  return (await findWebhook(db, organizationId, id)) !== undefined;
}

function acceptUrl(url: string, policy: AddressPolicy): string | Problem {
  const check = checkNewUrl(url, policy);
  if (check.ok) return check.url;
  const detail = { location: 'body', path: 'url', code: 'url_not_allowed', message: check.reason } as const;
  return problem('url_not_allowed', { message: check.reason, param: 'url', details: [detail] });
}
