import { toPublicId } from '@enterprise-api/shared/runtime';
import type { Span, Tracing } from '@enterprise-api/shared/tracing';
import type { Outcome } from '../outcomes/outcome.ts';
import type { BegunAttempt } from './classify.ts';

/**
 * Begins the span of an attempt. All that the retry schedule makes of an event are below the span that emitted it, also
 * days later: one trace tells everything that became of the event, and no attempt is below another. What a person asked
 * for, a retry or a replay, begins a trace of its own with a link to that of the event.
 */
export function startAttemptSpan(tracing: Tracing, { lease, webhook }: Pick<BegunAttempt, 'lease' | 'webhook'>): Span {
  const { traceparent, round, number } = lease;
  const belongs = traceparent === null ? {} : round === 0 ? { parent: traceparent } : { links: [traceparent] };
  const { hostname, port } = new URL(webhook.url);
  // Of the URL its host and port only: path and query may hold a receiver's secret.
  return tracing.start('POST webhook', {
    kind: 'client',
    ...belongs,
    attributes: {
      'http.request.method': 'POST',
      'server.address': hostname,
      'server.port': Number(port || 443),
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

/** Of an answer the status only: what a receiver says stays in the ledger. */
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
