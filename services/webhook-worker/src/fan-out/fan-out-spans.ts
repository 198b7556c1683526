import { toPublicId } from '@enterprise-api/shared/runtime';
import { parseTraceparent, type Tracing } from '@enterprise-api/shared/tracing';
import type { FannedOut } from './fanned-out.ts';

/**
 * Records a span for the fan-out of each event whose deliveries this process leased. Each span belongs to its event's
 * trace, because nothing else relates the events of one statement. Attempts are not children of this span, because
 * attempts in other processes, hours later, do not know its id.
 *
 * @param startedAtMs when the statement was sent, in milliseconds since 1970
 */
export function recordFanOutSpans(
  tracing: Tracing,
  by: 'job' | 'relay',
  { events, leases }: Pick<FannedOut, 'events' | 'leases'>,
  startedAtMs: number,
): void {
  for (const [eventId, ofEvent] of Map.groupBy(leases, (lease) => lease.event_id)) {
    const parent = parseTraceparent(ofEvent.find(({ traceparent }) => traceparent !== null)?.traceparent);
    if (parent === undefined) continue;
    const attributes = {
      'messaging.operation.type': 'process',
      'messaging.message.id': toPublicId('evt', eventId),
      'messaging.batch.message_count': events,
      'enterprise_api.fanned_out_by': by,
      'enterprise_api.deliveries_leased': ofEvent.length,
    };
    tracing.start('fan out', { kind: 'consumer', parent, attributes, startedAtMs }).end();
  }
}
