import type { ExplainEventQuery, ExplainType, Explanation } from '@enterprise-api/shared/contracts';
import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { fromPublicId, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { type Problem, problem } from '../http/problem.ts';
import { explainWebhook } from './explain-webhook.ts';
import { findFannedOut, listWebhooksAt } from './queries.ts';

export type Explanations = ReturnType<typeof createExplanations>;

export function createExplanations(db: Database) {
  return {
    event: (organizationId: Uuid, eventId: Uuid, { webhook_id }: ExplainEventQuery): Promise<Explanation | Problem> =>
      // Both statements read one state of the ledger. If a fan-out came between, their results would conflict.
      db
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute(async (trx) => {
          const event = await findFannedOut(trx, organizationId, eventId);
          if (event === undefined) return problem('not_found');
          const rows = await listWebhooksAt(trx, organizationId, { ...event, eventId, webhookId: toUuid(webhook_id) });
          const data = rows.flatMap((row) => explainWebhook(event, row) ?? []);
          if (webhook_id !== undefined && data.length === 0) return problem('not_found');
          return {
            object: 'explanation',
            event_id: toPublicId('evt', eventId),
            event_type: event.type as Explanation['event_type'],
            created_at: event.created_at.toISOString(),
            fanned_out_at: event.fanned_out_at?.toISOString() ?? null,
            data,
          };
        }),

    type: async (
      trx: DatabaseTransaction,
      organizationId: Uuid,
      { type, webhook_id }: ExplainType,
    ): Promise<Explanation | Problem> => {
      const rows = await listWebhooksAt(trx, organizationId, { webhookId: toUuid(webhook_id) });
      if (webhook_id !== undefined && rows.length === 0) return problem('not_found');
      const nothing = { created_at: null, fanned_out_at: null };
      const event = { type, ...nothing, erased_at: null, is_waiting: true, is_being_erased: false };
      const data = rows.flatMap((row) => explainWebhook(event, row) ?? []);
      return { object: 'explanation', event_id: null, event_type: type, ...nothing, data };
    },
  };
}

const toUuid = (id: string | undefined): Uuid | undefined =>
  id === undefined ? undefined : (fromPublicId('whk', id) ?? undefined);
