import { type Delivery, eventTypes, type Replay, type ReplayRequest } from '@enterprise-api/shared/contracts';
import { newEvent } from '@enterprise-api/shared/events';
import type { DatabaseClock } from '@enterprise-api/shared/ledger';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { type AddressPolicy, checkOutboundUrl } from '@enterprise-api/shared/security';
import { isProblem, type Problem, problem } from '../core/problem.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { presentDelivery } from '../deliveries/present.ts';
import {
  countTests,
  findDelivery,
  findWebhook,
  holdWebhook,
  insertTest,
  restartDeliveries,
  restartDelivery,
  type WebhookNow,
} from './queries.ts';

/** Something of an organization; both UUIDs. */
interface Place {
  organizationId: string;
  id: string;
}

export interface ManualSendOptions {
  clock: DatabaseClock;
  addressPolicy: AddressPolicy;
}

export type ManualSends = ReturnType<typeof createManualSends>;

/** Tests of one webhook that wait at a time. */
const maxTests = 100;
/** One replay sets the oldest so many going: more would keep others waiting for their rows. */
const replayedAtOnce = 100_000;

/** Deliveries that a person asks for. Workers send them like all others: each is a pending row that is due. */
export function createManualSends({ clock, addressPolicy }: ManualSendOptions) {
  /** The rules of its registration hold once more: rows outlive rules. */
  const reachable = (webhook: WebhookNow | undefined) => {
    if (webhook === undefined || webhook.state === 'deleted') return problem('not_found');
    const check = checkOutboundUrl(webhook.url, addressPolicy);
    return check.ok ? webhook : problem('url_not_allowed', { message: check.reason });
  };
  const enabled = (webhook: WebhookNow | undefined) => {
    const found = reachable(webhook);
    return isProblem(found) || found.state === 'enabled' ? found : conflicts.notEnabled;
  };
  return {
    /** A `webhook.test` event to one webhook, disabled or not. */
    test: (transact: Transact, { organizationId, id }: Place, requestId: string): Promise<Delivery | Problem> =>
      transact(async ({ trx, due }) => {
        const webhook = reachable(await holdWebhook(trx, organizationId, id));
        if (isProblem(webhook)) return webhook;
        if ((await countTests(trx, id)) >= maxTests) return tooManyTests;
        const event = {
          organization_id: toPublicId('org', organizationId),
          type: 'webhook.test',
          data: { ...eventTypes['webhook.test'].example, webhook_id: toPublicId('whk', id) },
        } as const;
        const row = await insertTest(trx, id, newEvent(event, await clock.current(trx), { requestId }));
        due(id);
        return presentDelivery(row);
      }),

    retry: (transact: Transact, { organizationId, id }: Place): Promise<Delivery | Problem> =>
      transact(async ({ trx, due }) => {
        const before = await findDelivery(trx, organizationId, id);
        if (before === undefined) return problem('not_found');
        const webhook = enabled(await holdWebhook(trx, organizationId, before.webhookId));
        // Of a deleted webhook the deliveries are still there.
        if (isProblem(webhook)) return webhook.problem === 'not_found' ? conflicts.notEnabled : webhook;
        const row = await restartDelivery(trx, organizationId, id);
        if (row === undefined) {
          const now = await findDelivery(trx, organizationId, id);
          return now?.isPending ? conflicts.pending : now?.isWornOut ? conflicts.wornOut : conflicts.bodyGone;
        }
        due(before.webhookId);
        return presentDelivery(row);
      }),

    /**
     * The webhook is held at the end only: whoever disables it meanwhile need not wait, and nothing is set going then.
     *
     * @param askedAtMs when the request came, by the monotonic clock: what was over by then is meant
     */
    replay: (
      transact: Transact,
      { organizationId, id }: Place,
      { since, until, status: statuses }: ReplayRequest,
      askedAtMs: number,
    ): Promise<Replay | Problem> =>
      transact(async ({ trx, due }) => {
        const before = enabled(await findWebhook(trx, organizationId, id));
        if (isProblem(before)) return before;
        const overForMs = clock.monotonic() - askedAtMs;
        const selection = { organizationId, webhookId: id, since, until, statuses, overForMs, limit: replayedAtOnce };
        const matched = await restartDeliveries(trx, selection);
        const after = enabled(await holdWebhook(trx, organizationId, id));
        if (isProblem(after)) return after;
        if (matched > 0) due(id);
        return { object: 'replay', matched };
      }),
  };
}

const conflicts = {
  notEnabled: problem('conflict', { message: 'The webhook is not enabled: nothing is sent to it.' }),
  pending: problem('conflict', { message: 'The delivery is pending: it will be sent anyway.' }),
  wornOut: problem('conflict', { message: 'The delivery was sent a thousand times: it is not sent again.' }),
  bodyGone: problem('conflict', { message: 'The event of this delivery is not kept any more.' }),
};

const tooManyTests = problem('limit_reached', {
  message: `At most ${maxTests} tests of a webhook wait at a time. These are sent first.`,
});
