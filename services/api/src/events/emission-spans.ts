import type { EmitEvent } from '@enterprise-api/shared/contracts';
import type { WrittenEvent } from '@enterprise-api/shared/events';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { isSampled, type Tracing } from '@enterprise-api/shared/tracing';

/** The spans of the events of one request, and what is kept with each event. */
export interface EmissionSpans {
  /** One per event. */
  readonly traceparents: readonly string[];
  /** @param written undefined when nothing was */
  end(written?: readonly WrittenEvent[]): void;
}

/** Events of one request that share its trace. A trace with a thousand events, and the attempts of each, shows nothing. */
const mostInOneTrace = 100;

/**
 * Begins a span for each event: what comes of the event is below it. The events of a large request have a trace each, with
 * a link to the request, unless the request is not recorded.
 */
export function startEmissionSpans(
  tracing: Tracing,
  events: readonly Pick<EmitEvent, 'type'>[],
  requestTrace: string,
): EmissionSpans {
  const isShared = events.length <= mostInOneTrace || !isSampled(requestTrace);
  const place = isShared ? { parent: requestTrace } : { links: [requestTrace] };
  const spans = events.map(({ type }) => {
    const attributes = { 'messaging.operation.type': 'create', 'enterprise_api.event_type': type };
    return tracing.start(`emit ${type}`, { kind: 'producer', ...place, attributes });
  });
  return {
    traceparents: spans.map((span) => span.traceparent),
    end: (written) => {
      for (const [index, span] of spans.entries()) span.end(outcomeOf(written?.[index]));
    },
  };
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
