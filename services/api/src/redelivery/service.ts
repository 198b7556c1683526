import { type Delivery, type EventType, eventTypes, type ReplayRequest } from '@enterprise-api/shared/contracts';
import { newEvent, webhookTestData } from '@enterprise-api/shared/events';
import type { DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import type { Transact } from '../core/unit-of-work.ts';
import { presentDelivery } from '../deliveries/present.ts';
import { isProblem, type Problem, problem } from '../http/problem.ts';
import { checkDestination, checkEnabled, notEnabled, type RedeliveryOptions, type Target } from './destination.ts';
import { countPendingTests, findDelivery, findWebhook, insertTest, lockWebhook, restartDelivery } from './queries.ts';
import { startReplay } from './replay.ts';

interface Origin {
  requestId: string;
  traceparent: string | undefined;
}

export type Redelivery = ReturnType<typeof createRedelivery>;

/** Every redelivery makes deliveries due, at once or at a given rate. Workers send these deliveries like all others. */
export function createRedelivery(options: RedeliveryOptions) {
  return {
    test: (transact: Transact, webhook: Target, type: EventType, origin: Origin) =>
      sendTest(options, transact, webhook, type, origin),
    retry: (transact: Transact, delivery: Target) => retryDelivery(options, transact, delivery),
    replay: (transact: Transact, webhook: Target, request: ReplayRequest, receivedAtMs: number) =>
      startReplay(options, transact, webhook, request, receivedAtMs),
    webhookExists: async (trx: DatabaseTransaction, organizationId: Uuid, id: Uuid) => {
      const webhook = await findWebhook(trx, organizationId, id);
      return webhook !== undefined && webhook.state !== 'deleted';
    },
    deliveryExists: async (trx: DatabaseTransaction, organizationId: Uuid, id: Uuid) =>
      (await findDelivery(trx, organizationId, id)) !== undefined,
  };
}

const maxPendingTests = 100;

/** Sends an example event to one webhook, even if the webhook is disabled or does not subscribe to the type. */
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
      data: testDataOf(type, id),
    };
    const row = await insertTest(trx, id, newEvent(event, await clock.current(trx), { ...origin, test: true }));
    due(id);
    await acted({ action: 'webhook.tested', objectId: id, organizationId });
    return presentDelivery(row);
  });
}

/** The catalogue's example, with ids that no real object has. A `webhook.test` contains the real webhook's id. */
function testDataOf(type: EventType, webhookId: Uuid): Record<string, unknown> {
  if (type === 'webhook.test') return webhookTestData(webhookId);
  const marked = (name: string, value: unknown) => (/(^|_)id$/.test(name) ? `test_${String(value)}` : value);
  return JSON.parse(JSON.stringify(eventTypes[type].example), marked) as Record<string, unknown>;
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
