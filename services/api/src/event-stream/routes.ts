import { streamEventsQuerySchema } from '@enterprise-api/shared/contracts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import { type EventStreamService, streamScope } from './service.ts';

const description = `Server-sent events. The first message (\`event: session\`) carries the secret of this stream, \`{"secret":"whsec_…"}\`. Each
later message has the event's id, and carries \`{"headers":{…},"body":"…"}\`: the headers and the exact body of a delivery, signed
with that secret. \`X-Service-Delivery-Id\` belongs to this stream and event, and \`X-Service-Attempt\` is 1.

To miss no event, a client reconnects with the id of its last event as \`Last-Event-ID\` (or \`after\`). If it has got no event yet, it
sends the value of the answer's header \`Last-Event-ID\`. Unknown, malformed and foreign ids are 404; ids older than retention are
410. The API sends a comment every 15 s. If the stream has sent no event yet, or \`events\` left out the newest one, the comment
carries an \`id\`. The stream ends if the client does not read, and within 5 s once its key may no longer use it. An organization
may have 10 streams at once.`;

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
