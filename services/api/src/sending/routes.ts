import { getSendingQuerySchema, sendingSchema, setSendingSchema } from '@enterprise-api/shared/contracts';
import type { InternalAccess } from '../auth/internal-guard.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { SendingService } from './service.ts';

const path = '/internal/v1/sending';

export function sendingRoutes(sending: SendingService): Route<InternalAccess>[] {
  return [
    defineRoute({
      method: 'GET',
      path,
      operationId: 'getSending',
      tag: 'Operations',
      summary: 'Read whether deliveries are held back: all, or those of an organization',
      errors: ['not_found'],
      scope: null,
      query: getSendingQuerySchema,
      status: 200,
      response: sendingSchema,
      handle: ({ query }) => sending.get(query),
    }),
    defineRoute({
      method: 'POST',
      path,
      operationId: 'setSending',
      tag: 'Operations',
      summary: 'Hold deliveries back, or let them go again: all, or those of an organization',
      description:
        'Every worker acts on it within 5 s. Attempts under way end and are recorded; nothing else begins, and no attempt of ' +
        'the retry schedule is used up. Events are accepted, deliveries are made, and streams go on.',
      errors: ['not_found'],
      scope: null,
      body: setSendingSchema,
      status: 200,
      response: sendingSchema,
      handle: ({ body, transact }) => sending.set(transact, body),
    }),
  ];
}
