import type { UpdateWebhook, Webhook } from '@enterprise-api/shared/contracts';
import {
  cancelBatchSize,
  cancelPending,
  type DatabaseTransaction,
  endPause,
  isAnnouncedDisabled,
  noteEnabledWebhook,
  resetHealth,
} from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { withLowerCaseOrigin } from '@enterprise-api/shared/security';
import { type FieldChanges, fieldChanges, noFieldChanges } from '../core/field-changes.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { invalid, isProblem, type Problem, problem } from '../http/problem.ts';
import { type IfMatch, isStale, type Tagged } from '../http/routing/etag.ts';
import { presentTagged, presentWebhook } from './present.ts';
import {
  endProbe,
  findWebhook,
  type Limits,
  lockWebhook,
  setLimits,
  updateWebhook,
  type WebhookChanges,
  type WebhookRow,
} from './queries.ts';

/** Without `ifMatch`, the change applies to any version. */
export interface WebhookTarget {
  organizationId: Uuid;
  id: Uuid;
  ifMatch: IfMatch | null;
}

const auditedFields = [
  'url',
  'events',
  'description',
  'enabled',
  'disabled_reason',
  'rate_limit_per_second',
  'max_in_flight',
  'auto_recover',
  'header_names',
] as const;

/** Removes a URL's query from the audit log, because a query may contain a receiver's token. */
export function webhookChanges(before: WebhookRow | null, after: WebhookRow): FieldChanges {
  // In a new webhook, null marks these fields as not set, so that the audit log lists no change of them.
  const shown = (row: WebhookRow) => ({
    ...presentWebhook(row),
    auto_recover: row.auto_recover || (before === null ? null : false),
    header_names: row.header_names,
  });
  return fieldChanges(before === null ? null : shown(before), shown(after), auditedFields, (name, value) =>
    name === 'url' && typeof value === 'string' ? value.replace(/\?.*$/s, '?…') : value,
  );
}

/** When a request disables or deletes a webhook, it cancels one batch of deliveries. Workers cancel the others. */
const firstBatch = { limit: cancelBatchSize, locked: 'wait' } as const;

/** A deleted webhook signs nothing, and a secret that is no longer stored cannot leak. */
const erasedSecrets = {
  secret_sealed: null,
  previous_secret_sealed: null,
  previous_secret_expires_at: null,
  header_names: null,
  headers_sealed: null,
};

type SealedHeaders = Pick<WebhookChanges, 'header_names' | 'headers_sealed'>;

export function changeWebhook(
  transact: Transact,
  target: WebhookTarget,
  input: UpdateWebhook,
  headers: SealedHeaders | undefined,
): Promise<Tagged<Webhook> | Problem> {
  const { organizationId, id } = target;
  return transact(async ({ trx, changed }) => {
    const before = await lockTarget(trx, target);
    if (isProblem(before)) return before;
    if (headers === undefined && leadsHeadersAway(before, input)) return headersNeeded;
    await applyChanges(trx, organizationId, before, { ...input, ...headers });
    const after = await findWebhook(trx, organizationId, id);
    if (after === undefined) return problem('not_found');
    if (recoversWithHeaders(after)) return headersForbidden(input);
    const fields = webhookChanges(before, after);
    if (headers !== undefined) fields.changedFields.push('headers');
    await changed({ action: 'webhook.updated', objectId: id, organizationId, ...fields });
    return presentTagged(after);
  });
}

export function deleteWebhook(transact: Transact, target: WebhookTarget): Promise<Problem | undefined> {
  const { organizationId, id } = target;
  return transact(async ({ trx, changed }) => {
    const before = await lockTarget(trx, target);
    if (isProblem(before)) return before;
    await updateWebhook(trx, organizationId, id, { state: 'deleted', ...erasedSecrets });
    await cancelPending(trx, [id], firstBatch);
    await changed({ action: 'webhook.deleted', objectId: id, organizationId, ...noFieldChanges });
    return undefined;
  });
}

/** Locks the webhook before comparing versions. If two clients send the same version, the API refuses the second. */
export async function lockTarget(
  trx: DatabaseTransaction,
  { organizationId, id, ifMatch }: WebhookTarget,
): Promise<WebhookRow | Problem> {
  const row = await lockWebhook(trx, organizationId, id);
  if (row === undefined) return problem('not_found');
  return isStale(ifMatch, row.version) ? problem('precondition_failed') : row;
}

/** A stored credential must not go to another origin, where a client that may change the URL could read it. */
function leadsHeadersAway({ url, header_names }: WebhookRow, input: UpdateWebhook): boolean {
  return header_names !== null && input.url !== undefined && new URL(input.url).origin !== new URL(url).origin;
}

const headersNeeded = invalid([
  {
    location: 'body',
    path: 'headers',
    code: 'invalid_value',
    message: 'must be given again for a url of another origin',
  },
]);

/** A probe must not send a stored credential to a host name that may belong to somebody else by now. */
export const recoversWithHeaders = ({ auto_recover, header_names }: WebhookRow) =>
  auto_recover && header_names !== null;

export const headersForbidden = (input: UpdateWebhook) =>
  invalid([
    {
      location: 'body',
      path: input.auto_recover ? 'auto_recover' : 'headers',
      code: 'invalid_value',
      message: 'a webhook cannot have both auto_recover and headers',
    },
  ]);

/**
 * Locks webhook, deliveries and health in this order. Workers that record outcomes also lock deliveries before health.
 * Before it enables a webhook, cancels every pending delivery, so that no old delivery is sent late.
 */
async function applyChanges(
  trx: DatabaseTransaction,
  organizationId: Uuid,
  before: WebhookRow,
  input: UpdateWebhook & SealedHeaders,
): Promise<void> {
  const enables = input.enabled === true && before.state === 'disabled';
  const isProbed = before.recovery_probe_id !== null;
  const disables = input.enabled === false && (before.state === 'enabled' || isProbed);
  // A stored URL may predate the rule that scheme and host are stored in lower case.
  const moves = input.url !== undefined && input.url !== withLowerCaseOrigin(before.url);
  const changes: WebhookChanges = {
    ...(input.url !== undefined && { url: input.url }),
    ...(input.events !== undefined && { event_patterns: input.events }),
    ...(input.description !== undefined && { description: input.description }),
    ...(input.headers_sealed !== undefined && {
      header_names: input.header_names,
      headers_sealed: input.headers_sealed,
    }),
    ...(input.auto_recover !== undefined && { auto_recover: input.auto_recover }),
    ...(enables && { state: 'enabled', disabled_reason: null }),
    ...(disables && { state: 'disabled', disabled_reason: 'manual' }),
  };
  if (isProbed && (enables || disables || input.auto_recover === false)) await endProbe(trx, before.id);
  if (enables) await cancelPending(trx, [before.id], { limit: null, locked: 'wait' });
  await updateWebhook(trx, organizationId, before.id, changes);
  const limits = limitsOf(input);
  if (limits !== null) await setLimits(trx, before.id, limits);
  if (disables) {
    await cancelPending(trx, [before.id], firstBatch);
    await endPause(trx, before.id);
  }
  if (enables || disables || moves) await resetHealth(trx, before.id);
  if (enables && (before.disabled_reason !== 'manual' || (await isAnnouncedDisabled(trx, before.id)))) {
    await noteEnabledWebhook(trx, { id: before.id, organizationId });
  }
}

/** @returns null if the input sets no limit */
export function limitsOf({ rate_limit_per_second, max_in_flight }: UpdateWebhook): Limits | null {
  const limits = {
    ...(rate_limit_per_second !== undefined && { rate_limit_per_second }),
    ...(max_in_flight !== undefined && { max_in_flight }),
  };
  return Object.keys(limits).length === 0 ? null : limits;
}
