import type { UsageArea } from '@enterprise-api/shared/contracts';
import { type Counter, type Histogram, type Logger, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { traceIdOf } from '@enterprise-api/shared/tracing';
import type { Response } from 'express';
import type { Caller, RequestContext } from './request-context.ts';
import { endRequestSpan, knownMethods } from './request-span.ts';

export interface ReportOptions {
  log: Logger;
  listener: 'public' | 'internal';
  metrics: {
    requests: Pick<Counter, 'inc'>;
    durations: Pick<Histogram, 'observe'>;
    errors: Pick<Counter, 'inc'>;
  };
  usage: { count: (request: UsedRequest) => void };
}

/** A request to count: its key is known, and it addresses an area or the API. */
export interface UsedRequest {
  readonly organizationId: Uuid;
  readonly keyId: Uuid;
  readonly area: UsageArea;
  /** Whether this API refused the request by its head. Refusals by an internal service do not count. */
  readonly isRefused: boolean;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

const maxPathLength = 200;
const quietRoutes = new Set(['/healthz', '/readyz', '/metrics']);

/** Counts and logs a request after its answer was sent or its client hung up. */
export function reportRequest(
  context: RequestContext,
  response: Response,
  durationMs: number,
  { log, listener, metrics, usage }: ReportOptions,
): void {
  const { route, caller, errorCode } = context;
  const { method } = response.req;
  const [status, aborted] = [response.statusCode, !response.writableFinished];
  // Clients may invent methods, and the number of label values must stay bounded.
  const labels = { listener, method: knownMethods.has(method) ? method : 'other', route };
  metrics.requests.inc({ ...labels, status });
  metrics.durations.observe(labels, durationMs / 1_000);
  if (errorCode !== undefined) metrics.errors.inc({ listener, code: errorCode });
  if (caller !== undefined) countUsage(context, caller, usage);
  if (context.span !== undefined) endRequestSpan(context.span, context, { method, status, aborted });
  // Probes and scrapes repeat every few seconds; the log only shows failed ones.
  const level = quietRoutes.has(route) && errorCode === undefined ? 'debug' : 'info';
  if (log.isLevelEnabled(level)) log[level](fieldsOf(context, response, durationMs), 'request');
}

function countUsage(
  { errorCode, bytesIn, bytesOut }: RequestContext,
  { key, area, isRefused = false }: Caller,
  usage: ReportOptions['usage'],
): void {
  if (key === undefined || area === undefined) return;
  const [organizationId, keyId] = [key.organization.id, key.id];
  // A request that passed the head's checks may still exceed the concurrency of its area.
  usage.count({ organizationId, keyId, area, isRefused: isRefused || errorCode === 'rate_limited', bytesIn, bytesOut });
}

/** Lists fields explicitly: headers, bodies and queries may hold secrets. */
function fieldsOf(
  context: RequestContext,
  { req: request, statusCode, writableFinished }: Response,
  durationMs: number,
) {
  const { caller } = context;
  const [path = ''] = request.originalUrl.split('?', 1);
  return {
    request_id: context.requestId,
    method: request.method,
    path: path.slice(0, maxPathLength),
    route: context.route,
    status: statusCode,
    duration_ms: Number(durationMs.toFixed(1)),
    ...(!writableFinished && { aborted: true }),
    ...(caller?.area !== undefined && { area: caller.area }),
    ...(context.upstreamStatus !== undefined && { upstream_status: context.upstreamStatus }),
    ...(context.upstreamMs !== undefined && { upstream_ms: Number(context.upstreamMs.toFixed(1)) }),
    ...(context.eventIds !== undefined && { event_ids: context.eventIds }),
    ...(context.traceparent !== undefined && { trace_id: traceIdOf(context.traceparent) }),
    ...(context.errorCode !== undefined && { error_code: context.errorCode }),
    ...(caller?.key !== undefined && {
      organization_id: toPublicId('org', caller.key.organization.id),
      key_id: toPublicId('key', caller.key.id),
    }),
    ...(caller !== undefined && { client_address: caller.address }),
  };
}
