import type { EmitEvent } from '@enterprise-api/shared/contracts';
import type { WrittenEvent } from '@enterprise-api/shared/events';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { isSampled, type Tracing } from '@enterprise-api/shared/tracing';

/**
 * Maximum number of events that share their request's trace. A trace with a thousand events and all their attempts is
 * unreadable.
 */
const maxInOneTrace = 100;

/**
 * Writes a request's events. Each event has its own span, which is the parent of the event's later spans. If a large
 * request is recorded, each event has its own trace, linked to the request.
 */
export async function writeWithSpans(
  tracing: Tracing,
  events: readonly Pick<EmitEvent, 'type'>[],
  requestTrace: string,
  write: (traceparents: readonly string[]) => Promise<WrittenEvent[]>,
): Promise<WrittenEvent[]> {
  const isShared = events.length <= maxInOneTrace || !isSampled(requestTrace);
  const place = isShared ? { parent: requestTrace } : { links: [requestTrace] };
  const spans = events.map(({ type }) => {
    const attributes = { 'messaging.operation.type': 'create', 'enterprise_api.event_type': type };
    return tracing.start(`emit ${type}`, { kind: 'producer', ...place, attributes });
  });
  const end = (written?: readonly WrittenEvent[]) => {
    for (const [index, span] of spans.entries()) span.end(outcomeOf(written?.[index]));
  };
  try {
    const written = await write(spans.map((span) => span.traceparent));
    end(written);
    return written;
  } catch (error) {
    end();
    throw error;
  }
}

function outcomeOf(written: WrittenEvent | undefined) {
  if (written === undefined) return { error: 'not_written' };
  const { id, organizationId, duplicate } = written;
  return {
    attributes: {
      'messaging.message.id': toPublicId('evt', id),
      'enterprise_api.organization_id': toPublicId('org', organizationId),
      ...(duplicate && { 'enterprise_api.duplicate': true }),
    },
  };
}
