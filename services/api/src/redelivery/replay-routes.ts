import { listReplaysQuerySchema, listSchema, replaySchema } from '@enterprise-api/shared/contracts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { Replays } from './replays.ts';

export function replayRoutes(replays: Replays): Route<Principal>[] {
  return [
    defineRoute({
      endpoint: 'GET /v1/webhooks/replays',
      operationId: 'listReplays',
      tag: 'Deliveries',
      summary: 'List replays',
      scope: 'webhooks:read',
      query: listReplaysQuerySchema,
      response: listSchema(replaySchema),
      handle: ({ access, query }) => replays.list(access.key.organization.id, query),
    }),
    defineRoute({
      endpoint: 'GET /v1/webhooks/replays/{id}',
      operationId: 'getReplay',
      tag: 'Deliveries',
      summary: 'Read a replay',
      scope: 'webhooks:read',
      ids: { id: 'rpl' },
      response: replaySchema,
      handle: ({ access, ids }) => replays.get(access.key.organization.id, ids.id),
    }),
    defineRoute({
      endpoint: 'POST /v1/webhooks/replays/{id}/cancel',
      operationId: 'cancelReplay',
      tag: 'Deliveries',
      summary: 'Cancel a replay',
      description:
        'Deliveries that wait become `canceled` with `canceled_reason: "replay_canceled"`. A delivery that was `succeeded` before the replay is `succeeded` again. A delivery that was `pending` stays so; unless the replay has tried it, it is due as before. A running attempt ends. A replay that has ended stays as it is.',
      scope: 'webhooks:write',
      ids: { id: 'rpl' },
      exists: ({ access, ids, trx }) => replays.exists(trx, access.key.organization.id, ids.id),
      serializedPerOrganization: true,
      response: replaySchema,
      handle: ({ access, ids, transact }) =>
        replays.cancel(transact, { organizationId: access.key.organization.id, id: ids.id }),
    }),
  ];
}
