import {
  type Delivery,
  type EventType,
  eventTypes,
  type Replay,
  type ReplayRequest,
} from '@enterprise-api/shared/contracts';
import { newEvent } from '@enterprise-api/shared/events';
import type { DatabaseClock, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { type AddressPolicy, checkOutboundUrl } from '@enterprise-api/shared/security';
import type { Transact } from '../core/unit-of-work.ts';
import { presentDelivery } from '../deliveries/present.ts';
import { isProblem, type Problem, problem } from '../http/problem.ts';
import {
  countPendingTests,
  findDelivery,
  findWebhook,
  hasRestartable,
  insertTest,
  lockWebhook,
  restartDeliveries,
  restartDelivery,
  type WebhookState,
} from './queries.ts';

interface Target {
  organizationId: Uuid;
  id: Uuid;
}

interface Origin {
  requestId: string;
  traceparent: string | undefined;
}

export interface RedeliveryOptions {
  clock: DatabaseClock;
  addressPolicy: AddressPolicy;
}

export type Redelivery = ReturnType<typeof createRedelivery>;

/** Every redelivery creates pending deliveries that are due now. Workers send these deliveries like all others. */
export function createRedelivery(options: RedeliveryOptions) {
  return {
    test: (transact: Transact, webhook: Target, type: EventType, origin: Origin) =>
      sendTest(options, transact, webhook, type, origin),
    retry: (transact: Transact, delivery: Target) => retryDelivery(options, transact, delivery),
    replay: (transact: Transact, webhook: Target, request: ReplayRequest, receivedAtMs: number) =>
      replayDeliveries(options, transact, webhook, request, receivedAtMs),
    webhookExists: async (trx: DatabaseTransaction, organizationId: Uuid, id: Uuid) => {
      const webhook = await findWebhook(trx, organizationId, id);
      return webhook !== undefined && webhook.state !== 'deleted';
    },
    deliveryExists: async (trx: DatabaseTransaction, organizationId: Uuid, id: Uuid) =>
      (await findDelivery(trx, organizationId, id)) !== undefined,
  };
}

const maxPendingTests = 100;

/** Sends an example of a type to one webhook only. The webhook may be disabled, or not subscribe to the type. */
function sendTest(
  { clock, addressPolicy }: RedeliveryOptions,
  transact: Transact,
  { organizationId, id }: Target,
  type: EventType,
  origin: Origin,
): Promise<Delivery | Problem> {
  return transact(async ({ trx, due, acted }) => {
    const webhook = checkDestination(await lockWebhook(trx, organizationId, id), addressPolicy);
    if (isProblem(webhook)) return webhook;
    if ((await countPendingTests(trx, id)) >= maxPendingTests) return tooManyTests;
    const event = {
      organization_id: toPublicId('org', organizationId),
      type,
      data: testDataOf(type, toPublicId('whk', id)),
    };
    const row = await insertTest(trx, id, newEvent(event, await clock.current(trx), { ...origin, test: true }));
    due(id);
    await acted({ action: 'webhook.tested', objectId: id, organizationId });
    return presentDelivery(row);
  });
}

/** The catalogue's example. Its ids cannot be confused with ids of real objects. */
function testDataOf(type: EventType, webhookId: string): Record<string, unknown> {
  const { example } = eventTypes[type];
  if (type === 'webhook.test') return { ...example, webhook_id: webhookId };
  const marked = (name: string, value: unknown) => (/(^|_)id$/.test(name) ? `test_${String(value)}` : value);
  return JSON.parse(JSON.stringify(example), marked) as Record<string, unknown>;
}

function retryDelivery(
  { addressPolicy }: RedeliveryOptions,
  transact: Transact,
  { organizationId, id }: Target,
): Promise<Delivery | Problem> {
  return transact(async ({ trx, due, acted }) => {
    const before = await findDelivery(trx, organizationId, id);
    if (before === undefined) return problem('not_found');
    const webhook = checkEnabled(await lockWebhook(trx, organizationId, before.webhookId), addressPolicy);
    // Do not answer 404: the delivery of a deleted webhook still exists.
    if (isProblem(webhook)) return webhook.problem === 'not_found' ? notEnabled : webhook;
    const row = await restartDelivery(trx, organizationId, id);
    if (row === undefined) return whyNotRestarted(await findDelivery(trx, organizationId, id));
    due(before.webhookId);
    await acted({ action: 'delivery.retried', objectId: id, organizationId });
    return presentDelivery(row);
  });
}

/** A replay restarts at most this many deliveries, oldest first, because it locks these deliveries until it ends. */
const replayedAtOnce = 100_000;

/**
 * Restarts the failed and canceled deliveries of a period, or the deliveries with the requested statuses. Locks the
 * webhook only at the end, so that a request that disables the webhook meanwhile need not wait. In that case the replay
 * restarts nothing.
 *
 * @param receivedAtMs arrival of the request on the monotonic clock; the replay excludes deliveries completed later
 */
function replayDeliveries(
  { clock, addressPolicy }: RedeliveryOptions,
  transact: Transact,
  { organizationId, id }: Target,
  { since, until, status: statuses }: ReplayRequest,
  receivedAtMs: number,
): Promise<Replay | Problem> {
  return transact(async ({ trx, due, acted }) => {
    const before = checkEnabled(await findWebhook(trx, organizationId, id), addressPolicy);
    if (isProblem(before)) return before;
    const selection = () => {
      const completedForMs = clock.monotonic() - receivedAtMs;
      return { webhookId: id, since, until, statuses, completedForMs, limit: replayedAtOnce };
    };
    const matched = await restartDeliveries(trx, organizationId, selection());
    const hasMore = matched === replayedAtOnce && (await hasRestartable(trx, organizationId, selection()));
    const after = checkEnabled(await lockWebhook(trx, organizationId, id), addressPolicy);
    if (isProblem(after)) return after;
    if (matched > 0) due(id);
    await acted({ action: 'webhook.replayed', objectId: id, organizationId });
    return { object: 'replay', matched, has_more: hasMore };
  });
}

function whyNotRestarted(delivery: Awaited<ReturnType<typeof findDelivery>>): Problem {
  if (delivery?.isPending) return stillPending;
  return delivery?.hasReachedAttemptLimit ? attemptLimitReached : eventRemoved;
}

const stillPending = problem('conflict', {
  message: 'The delivery is pending. It will be sent without a retry.',
});
const attemptLimitReached = problem('conflict', { message: 'The delivery has reached the limit of 1,000 attempts.' });
const eventRemoved = problem('conflict', { message: 'The body of this delivery is no longer stored.' });

const tooManyTests = problem('limit_reached', {
  message: `A webhook has at most ${maxPendingTests} pending tests. Wait until one is sent.`,
});

/** Checks the URL again, because a stored URL may predate a rule for URLs. */
function checkDestination(webhook: WebhookState | undefined, policy: AddressPolicy): WebhookState | Problem {
  if (webhook === undefined || webhook.state === 'deleted') return problem('not_found');
  const check = checkOutboundUrl(webhook.url, policy);
  return check.ok ? webhook : problem('url_not_allowed', { message: check.reason });
}

function checkEnabled(webhook: WebhookState | undefined, policy: AddressPolicy): WebhookState | Problem {
  const found = checkDestination(webhook, policy);
  return isProblem(found) || found.state === 'enabled' ? found : notEnabled;
}

const notEnabled = problem('conflict', { message: 'The webhook is not enabled, so nothing is sent to it.' });
