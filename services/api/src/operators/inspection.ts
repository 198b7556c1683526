import type { InspectedDelivery, InspectedWebhook, Webhook } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import type { DeliveryService } from '../deliveries/service.ts';
import { isProblem, type Problem, problem } from '../http/problem.ts';
import type { WebhookService } from '../webhooks/service.ts';
import { findOrganizationOfDelivery, findOwnerAndHealth } from './inspection-queries.ts';

export interface InspectionOptions {
  db: Database;
  webhooks: Pick<WebhookService, 'get'>;
  deliveries: Pick<DeliveryService, 'get'>;
}

export type Inspection = ReturnType<typeof createInspection>;

/** Finds what an operator has only the id of: a webhook or a delivery of whatever organization. */
export function createInspection({ db, webhooks, deliveries }: InspectionOptions) {
  return {
    webhook: async (id: Uuid): Promise<InspectedWebhook | Problem> => {
      const owner = await findOwnerAndHealth(db, id);
      if (owner === undefined) return problem('not_found');
      const found = await webhooks.get(owner.organization_id, id);
      return isProblem(found) ? found : presentInspected(owner, found.tagged);
    },

    /** A webhook, as a transaction has it, with its organization and its health. */
    describeWebhook: async (trx: Database, id: Uuid, webhook: Webhook): Promise<InspectedWebhook | Problem> => {
      const owner = await findOwnerAndHealth(trx, id);
      return owner === undefined ? problem('not_found') : presentInspected(owner, webhook);
    },

    /** Whose webhook it is, also when it was deleted. */
    ownerOfWebhook: async (trx: Database, id: Uuid): Promise<Uuid | undefined> =>
      (await findOwnerAndHealth(trx, id))?.organization_id,

    ownerOfDelivery: findOrganizationOfDelivery,

    delivery: async (id: Uuid): Promise<InspectedDelivery | Problem> => {
      const organizationId = await findOrganizationOfDelivery(db, id);
      if (organizationId === undefined) return problem('not_found');
      const found = await deliveries.get(organizationId, id);
      if (isProblem(found)) return found;
      const { attempts, request: _, ...delivery } = found;
      return { organization_id: toPublicId('org', organizationId), delivery, attempts };
    },
  };
}

type Owner = NonNullable<Awaited<ReturnType<typeof findOwnerAndHealth>>>;

function presentInspected(owner: Owner, webhook: Webhook): InspectedWebhook {
  return {
    organization_id: toPublicId('org', owner.organization_id),
    webhook,
    sending_paused: Boolean(owner.sending_paused),
    health: {
      consecutive_failures: owner.consecutive_failures ?? 0,
      failed_attempts: owner.failed_attempts ?? 0,
      openings: owner.openings ?? 0,
      open_until: owner.open_until?.toISOString() ?? null,
    },
  };
}
