import { type Delivery, eventTypes, type Replay, type ReplayRequest } from '@enterprise-api/shared/contracts';
import { newEvent } from '@enterprise-api/shared/emit';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { presentDelivery } from '../deliveries/present.ts';
import { type Problem, problem } from '../http/errors.ts';
import type { Transact } from '../http/unit-of-work.ts';
import { findDelivery, holdWebhook, insertTest, restartDeliveries, restartDelivery } from './queries.ts';

/** Something of an organization; both UUIDs. */
interface Place {
  organizationId: string;
  id: string;
}

export type ManualSends = ReturnType<typeof createManualSends>;

/** Deliveries that a person asks for. Workers send them like all others: each is a pending row that is due. */
export function createManualSends() {
  return {
    /** A `webhook.test` event to one webhook, disabled or not. */
    test: (transact: Transact, { organizationId, id }: Place, requestId: string): Promise<Delivery | Problem> =>
      transact(async ({ trx, due }) => {
        const webhook = await holdWebhook(trx, organizationId, id);
        if (webhook === undefined || webhook.state === 'deleted') return problem('not_found');
        const event = {
          organization_id: toPublicId('org', organizationId),
          type: 'webhook.test',
          data: { ...eventTypes['webhook.test'].example, webhook_id: toPublicId('whk', id) },
        } as const;
        const row = await insertTest(trx, id, newEvent(event, webhook.nowMs, { requestId }));
        due(id);
        return presentDelivery(row);
      }),

    retry: (transact: Transact, { organizationId, id }: Place): Promise<Delivery | Problem> =>
      transact(async ({ trx, due }) => {
        const before = await findDelivery(trx, organizationId, id);
        if (before === undefined) return problem('not_found');
        const webhook = await holdWebhook(trx, organizationId, before.webhook_id);
        if (webhook?.state !== 'enabled') return conflicts.notEnabled;
        const row = await restartDelivery(trx, before.webhook_id, id);
        if (row === undefined) {
          const now = await findDelivery(trx, organizationId, id);
          return now?.status === 'pending' ? conflicts.pending : conflicts.bodyGone;
        }
        due(before.webhook_id);
        return presentDelivery(row);
      }),

    replay: (
      transact: Transact,
      { organizationId, id }: Place,
      { since, until, status }: ReplayRequest,
    ): Promise<Replay | Problem> =>
      transact(async ({ trx, due }) => {
        const webhook = await holdWebhook(trx, organizationId, id);
        if (webhook === undefined || webhook.state === 'deleted') return problem('not_found');
        if (webhook.state !== 'enabled') return conflicts.notEnabled;
        const matched = await restartDeliveries(trx, { webhookId: id, since, until, statuses: status });
        if (matched > 0) due(id);
        return { object: 'replay', matched };
      }),
  };
}

const conflicts = {
  notEnabled: problem('conflict', { message: 'The webhook is not enabled: nothing is sent to it.' }),
  pending: problem('conflict', { message: 'The delivery is pending: it will be sent anyway.' }),
  bodyGone: problem('conflict', { message: 'The event of this delivery is not kept any more.' }),
};
