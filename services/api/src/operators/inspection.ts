import type {
  Delivery,
  InspectedDelivery,
  InspectedWebhook,
  OperatorUpdateWebhook,
  Replay,
  ReplayPreview,
  ReplayRequest,
  Webhook,
  WebhookHealth,
} from '@enterprise-api/shared/contracts';
import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { fromPublicId, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { recordEventReads } from '../core/event-read.ts';
import { requireActive } from '../core/require-active.ts';
import type { Transact } from '../core/unit-of-work.ts';
import type { DeliveryService } from '../deliveries/service.ts';
import { isProblem, type Problem, problem } from '../http/problem.ts';
import type { Redelivery } from '../redelivery/service.ts';
import type { WebhookHealthReader } from '../webhooks/health.ts';
import type { WebhookService } from '../webhooks/service.ts';
import { findOrganizationOfDelivery, findOwnerAndHealth } from './queries.ts';

export interface InspectionOptions {
  db: Database;
  webhooks: Pick<WebhookService, 'get' | 'update'>;
  health: Pick<WebhookHealthReader, 'get'>;
  deliveries: Pick<DeliveryService, 'get'>;
  redelivery: Redelivery;
}

export type Inspection = ReturnType<typeof createInspection>;

/**
 * Shows an operator any organization's webhook or delivery by its id alone. An operator's actions follow the same rules
 * as the organization's own actions.
 */
export function createInspection({ db, webhooks, health, deliveries, redelivery }: InspectionOptions) {
  return {
    webhook: async (id: Uuid): Promise<InspectedWebhook | Problem> => {
      const owner = await findOwnerAndHealth(db, id);
      if (owner === undefined) return problem('not_found');
      const found = await webhooks.get(owner.organization_id, id);
      return isProblem(found) ? found : presentInspected(owner, found.tagged);
    },

    health: async (id: Uuid): Promise<WebhookHealth | Problem> => {
      const organizationId = await findOwner(db, id);
      return organizationId === undefined ? problem('not_found') : health.get(organizationId, id);
    },

    delivery: async (transact: Transact, id: Uuid): Promise<InspectedDelivery | Problem> => {
      const organizationId = await findOrganizationOfDelivery(db, id);
      if (organizationId === undefined) return problem('not_found');
      const found = await deliveries.get(organizationId, id);
      if (isProblem(found)) return found;
      const { attempts, request: _, ...delivery } = found;
      await recordEventReads(transact, organizationId, [fromPublicId('evt', delivery.event_id) as Uuid]);
      return { organization_id: toPublicId('org', organizationId), delivery, attempts };
    },

    retry: (transact: Transact, id: Uuid): Promise<Delivery | Problem> =>
      transact(async ({ trx, part }) => {
        const organizationId = await findOrganizationOfDelivery(trx, id);
        return organizationId === undefined ? problem('not_found') : redelivery.retry(part, { organizationId, id });
      }),

    replay: (
      transact: Transact,
      id: Uuid,
      request: ReplayRequest,
      receivedAtMs: number,
    ): Promise<Replay | ReplayPreview | Problem> =>
      transact(async ({ trx, part }) => {
        const organizationId = await findActiveOwner(trx, id);
        if (isProblem(organizationId)) return organizationId;
        return redelivery.replay(part, { organizationId, id }, request, receivedAtMs);
      }),

    updateWebhook: (
      transact: Transact,
      id: Uuid,
      changes: OperatorUpdateWebhook,
    ): Promise<InspectedWebhook | Problem> =>
      transact(async ({ trx, part }) => {
        const organizationId = await findActiveOwner(trx, id);
        if (isProblem(organizationId)) return organizationId;
        const updated = await webhooks.update(part, { organizationId, id, ifMatch: null }, changes);
        if (isProblem(updated)) return updated;
        const after = await findOwnerAndHealth(trx, id);
        return after === undefined ? problem('not_found') : presentInspected(after, updated.tagged);
      }),

    webhookExists: existsFor(findOwner, redelivery.webhookExists),
    deliveryExists: existsFor(findOrganizationOfDelivery, redelivery.deliveryExists),
  };
}

/** Also finds the owner of a deleted webhook. */
async function findOwner(trx: Database, id: Uuid): Promise<Uuid | undefined> {
  return (await findOwnerAndHealth(trx, id))?.organization_id;
}

/** Closing an organization deletes its webhooks. A change of such a webhook is then a conflict. */
async function findActiveOwner(trx: DatabaseTransaction, id: Uuid): Promise<Uuid | Problem> {
  const organizationId = await findOwner(trx, id);
  if (organizationId === undefined) return problem('not_found');
  return (await requireActive(trx, organizationId)) ?? organizationId;
}

/** Returns false if the object does not exist, or its owner has deleted it. */
function existsFor(find: typeof findOwner, exists: Redelivery['webhookExists']) {
  return async (trx: DatabaseTransaction, id: Uuid): Promise<boolean> => {
    const organizationId = await find(trx, id);
    return organizationId !== undefined && exists(trx, organizationId, id);
  };
}

function presentInspected(
  owner: NonNullable<Awaited<ReturnType<typeof findOwnerAndHealth>>>,
  webhook: Webhook,
): InspectedWebhook {
  return {
    organization_id: toPublicId('org', owner.organization_id),
    webhook,
    sending_paused: Boolean(owner.sending_paused),
    health: {
      consecutive_failures: owner.consecutive_failures ?? 0,
      failed_attempts: owner.failed_attempts ?? 0,
      openings: owner.openings ?? 0,
      open_until: (owner.openings && owner.open_until?.toISOString()) || null,
    },
  };
}
