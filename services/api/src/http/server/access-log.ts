import { type Logger, toPublicId } from '@enterprise-api/shared/runtime';
import { traceIdOf } from '@enterprise-api/shared/tracing';
import type { MalformedRequest } from './malformed-request.ts';
import type { RequestContext } from './request-context.ts';

export interface FinishedRequest {
  method: string;
  target: string;
  status: number;
  aborted: boolean;
}

const maxPathLength = 200;
const quietRoutes = new Set(['/healthz', '/readyz', '/metrics']);

/** Logs one line per request, of chosen fields: never a header, a body or a query, which may hold secrets. */
export function createAccessLog(
  log: Logger,
): (context: RequestContext, request: FinishedRequest, durationMs: number) => void {
  return (context, request, durationMs) => {
    // Probes and scrapes come every few seconds; as long as they succeed, they would only fill the log.
    const level = quietRoutes.has(context.route) && request.status < 400 ? 'debug' : 'info';
    if (!log.isLevelEnabled(level)) return;
    const { organizationId } = context;
    log[level](
      {
        request_id: context.requestId,
        method: request.method,
        path: withoutQuery(request.target).slice(0, maxPathLength),
        route: context.route,
        status: request.status,
        duration_ms: Math.round(durationMs * 10) / 10,
        ...(request.aborted && { aborted: true }),
        ...(context.area !== undefined && { area: context.area }),
        ...(context.upstreamStatus !== undefined && { upstream_status: context.upstreamStatus }),
        ...(context.upstreamMs !== undefined && { upstream_ms: Math.round(context.upstreamMs * 10) / 10 }),
        ...(context.eventIds !== undefined && { event_ids: context.eventIds }),
        ...(context.traceparent !== undefined && { trace_id: traceIdOf(context.traceparent) }),
        ...(context.errorCode !== undefined && { error_code: context.errorCode }),
        ...(organizationId !== undefined && { organization_id: toPublicId('org', organizationId) }),
        ...(context.keyId !== undefined && { key_id: toPublicId('key', context.keyId) }),
        ...(context.clientAddress !== undefined && { client_address: context.clientAddress }),
      },
      'request',
    );
  };
}

/** Logs bytes that could not be parsed as HTTP. Their answer had a request id, too. */
export function logMalformedRequest(log: Logger, { requestId, status, reason }: MalformedRequest): void {
  log.info({ request_id: requestId, status, reason }, 'malformed HTTP request');
}

function withoutQuery(target: string): string {
  const mark = target.indexOf('?');
  return mark === -1 ? target : target.slice(0, mark);
}
