import { explainEventQuerySchema, explainTypeSchema, explanationSchema } from '@enterprise-api/shared/contracts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { Explanations } from './service.ts';

export function explanationRoutes(explanations: Explanations): Route<Principal>[] {
  return [
    defineRoute({
      endpoint: 'GET /v1/events/{event_id}/explain',
      operationId: 'explainEvent',
      tag: 'Events',
      summary: 'Explain which webhooks got an event',
      description:
        'Says for each webhook whether it got the event, and why. The configuration at the time of the fan-out counts.',
      scope: 'webhooks:read',
      ids: { event_id: 'evt' },
      query: explainEventQuerySchema,
      response: explanationSchema,
      handle: ({ access, ids, query }) => explanations.event(access.key.organization.id, ids.event_id, query),
    }),
    defineRoute({
      endpoint: 'POST /v1/webhooks/explain',
      operationId: 'explainEventType',
      tag: 'Webhooks',
      summary: 'Explain which webhooks would get an event',
      description:
        'Says for each webhook whether an event of this type would get a delivery if it happened now, and why not. Creates nothing. Both times and `event_id` are null.',
      errors: ['not_found'],
      scope: 'webhooks:read',
      body: explainTypeSchema,
      response: explanationSchema,
      handle: ({ access, body, transact }) =>
        transact(({ trx }) => explanations.type(trx, access.key.organization.id, body)),
    }),
  ];
}
