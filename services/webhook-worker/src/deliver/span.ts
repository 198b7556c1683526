import { toPublicId } from '@enterprise-api/shared/runtime';
import type { Span, Tracing } from '@enterprise-api/shared/tracing';
import type { Outcome } from '../outcomes/outcome.ts';
import { portOf } from '../sender/destination.ts';
import type { BegunAttempt } from './classify.ts';

/**
 * Starts the span of an attempt. Its parent is the span that emitted the event, even if that was days ago: one trace
 * shows all scheduled attempts side by side. A redelivery that a person requested starts its own trace, with a link to
 * the event's trace.
 */
export function startAttemptSpan(tracing: Tracing, { lease, webhook }: Pick<BegunAttempt, 'lease' | 'webhook'>): Span {
  const { traceparent, round, number } = lease;
  const belongs = traceparent === null ? {} : round === 0 ? { parent: traceparent } : { links: [traceparent] };
  const url = new URL(webhook.url);
  // Record only host and port, because path and query may contain a receiver's secret.
  return tracing.start('POST webhook', {
    kind: 'client',
    ...belongs,
    attributes: {
      'http.request.method': 'POST',
      'server.address': url.hostname,
      'server.port': portOf(url),
      ...(number > 1 && { 'http.request.resend_count': number - 1 }),
      'enterprise_api.attempt': number,
      'enterprise_api.round': round,
      'enterprise_api.event_type': lease.eventType,
      'enterprise_api.event_id': toPublicId('evt', lease.eventId),
      'enterprise_api.delivery_id': toPublicId('dlv', lease.deliveryId),
      'enterprise_api.webhook_id': toPublicId('whk', lease.webhookId),
      'enterprise_api.organization_id': toPublicId('org', lease.organizationId),
    },
  });
}

/** Records only the response's status. The excerpt of the response stays in the ledger. */
export function endAttemptSpan(span: Span, { result, statusCode, error, timings }: Outcome): void {
  span.end({
    attributes: {
      ...(statusCode !== null && { 'http.response.status_code': statusCode }),
      'enterprise_api.result': result,
      ...milliseconds(timings),
    },
    error: result === 'delivered' ? undefined : (error ?? String(statusCode)),
  });
}

function milliseconds(timings: Outcome['timings']): Record<string, number> {
  const known = Object.entries(timings).filter((entry): entry is [string, number] => entry[1] !== null);
  return Object.fromEntries(known.map(([name, ms]) => [`enterprise_api.${name}`, ms]));
}
