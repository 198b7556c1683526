import { streamEventsQuerySchema } from '@enterprise-api/shared/contracts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import { type EventStreamService, streamScope } from './service.ts';

const description = `Server-sent events. The first message (\`event: session\`) has as data a secret of this stream, \`{"secret":"whsec_…"}\`. Each
further one has the event's id, and as data \`{"headers":{…},"body":"…"}\`: the headers and the exact body that a delivery would have,
signed with that secret. \`X-Service-Delivery-Id\` belongs to this stream and event, and \`X-Service-Attempt\` is 1.

A client that reconnects sends the id of its last event as \`Last-Event-ID\` (or \`after\`), and misses none: unknown, malformed and
foreign ids are 404, ids from before retention are 410. Before its first event it sends what the answer's \`Last-Event-ID\` names, the newest
event or the beginning of an organization without one. A comment comes every 15 s, with an \`id\` when the stream has passed events that
\`events\` leaves out, or has sent none. The stream ends within 5 s when its key may not use it
any more, and when the client does not read; an organization may have 10 streams at once.`;

export function eventStreamRoutes(streams: EventStreamService): Route<Principal>[] {
  return [
    defineRoute({
      endpoint: 'GET /v1/events/stream',
      operationId: 'streamEvents',
      tag: 'Events',
      summary: 'Stream events',
      description,
      errors: ['not_found', 'event_expired', 'rate_limited'],
      scope: streamScope,
      query: streamEventsQuerySchema,
      streams: 'text/event-stream',
      handle: ({ access, query, lastEventId, signal }) => streams.open(access, { query, lastEventId, signal }),
    }),
  ];
}
