import type {
  Delivery,
  InspectedWebhook,
  OperatorUpdateWebhook,
  Replay,
  ReplayRequest,
} from '@enterprise-api/shared/contracts';
import type { DatabaseTransaction } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import type { Transact } from '../core/unit-of-work.ts';
import { isProblem, type Problem, problem } from '../http/problem.ts';
import type { Redelivery } from '../redelivery/service.ts';
import type { WebhookService } from '../webhooks/service.ts';
import type { Inspection } from './inspection.ts';

export interface OperatorActionsOptions {
  inspection: Pick<Inspection, 'ownerOfWebhook' | 'ownerOfDelivery' | 'describeWebhook'>;
  redelivery: Pick<Redelivery, 'retry' | 'replay' | 'webhookExists' | 'deliveryExists'>;
  webhooks: Pick<WebhookService, 'update'>;
}

export type OperatorActions = ReturnType<typeof createOperatorActions>;

type FindOwner = (trx: DatabaseTransaction, id: Uuid) => Promise<Uuid | undefined>;

/** What an operator does for an organization, by the same rules as the organization itself, with only the id of the object. */
export function createOperatorActions({ inspection, redelivery, webhooks }: OperatorActionsOptions) {
  return {
    retry: (transact: Transact, id: Uuid): Promise<Delivery | Problem> =>
      transact(async ({ trx, part }) => {
        const organizationId = await inspection.ownerOfDelivery(trx, id);
        return organizationId === undefined ? problem('not_found') : redelivery.retry(part, { organizationId, id });
      }),

    replay: (transact: Transact, id: Uuid, request: ReplayRequest, receivedAtMs: number): Promise<Replay | Problem> =>
      transact(async ({ trx, part }) => {
        const organizationId = await inspection.ownerOfWebhook(trx, id);
        if (organizationId === undefined) return problem('not_found');
        return redelivery.replay(part, { organizationId, id }, request, receivedAtMs);
      }),

    updateWebhook: (
      transact: Transact,
      id: Uuid,
      changes: OperatorUpdateWebhook,
    ): Promise<InspectedWebhook | Problem> =>
      transact(async ({ trx, part }) => {
        const organizationId = await inspection.ownerOfWebhook(trx, id);
        if (organizationId === undefined) return problem('not_found');
        const updated = await webhooks.update(part, { organizationId, id, ifMatch: null }, changes);
        return isProblem(updated) ? updated : inspection.describeWebhook(trx, id, updated.tagged);
      }),

    webhookExists: existsFor(inspection.ownerOfWebhook, redelivery.webhookExists),
    deliveryExists: existsFor(inspection.ownerOfDelivery, redelivery.deliveryExists),
  };
}

/** Whether whoever owns the object still has it. */
function existsFor(findOwner: FindOwner, exists: Redelivery['webhookExists']) {
  return async (trx: DatabaseTransaction, id: Uuid): Promise<boolean> => {
    const organizationId = await findOwner(trx, id);
    return organizationId !== undefined && exists(trx, organizationId, id);
  };
}
