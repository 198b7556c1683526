import { type Logger, toPublicId } from '@enterprise-api/shared/runtime';
import type { Unparsable } from './listener.ts';
import type { Exchange } from './request-context.ts';

export interface FinishedRequest {
  method: string;
  target: string;
  status: number;
  aborted: boolean;
}

const maxPathLength = 200;
const quietRoutes = new Set(['/healthz', '/readyz', '/metrics']);

/** One line per request, of chosen fields: never a header, a body, or a query, whose values may be anybody's secret. */
export function createAccessLog(
  log: Logger,
): (exchange: Exchange, request: FinishedRequest, durationMs: number) => void {
  return (exchange, request, durationMs) => {
    // Probes come every few seconds for ever, and say nothing as long as they are well.
    const level = quietRoutes.has(exchange.route) && request.status < 400 ? 'debug' : 'info';
    if (!log.isLevelEnabled(level)) return;
    const { organizationId } = exchange;
    log[level](
      {
        request_id: exchange.requestId,
        method: request.method,
        path: withoutQuery(request.target).slice(0, maxPathLength),
        route: exchange.route,
        status: request.status,
        duration_ms: Math.round(durationMs * 10) / 10,
        ...(request.aborted && { aborted: true }),
        ...(exchange.eventIds !== undefined && { event_ids: exchange.eventIds }),
        ...(exchange.errorCode !== undefined && { error_code: exchange.errorCode }),
        ...(organizationId !== undefined && { organization_id: toPublicId('org', organizationId) }),
        ...(exchange.keyId !== undefined && { key_id: toPublicId('key', exchange.keyId) }),
        ...(exchange.clientAddress !== undefined && { client_address: exchange.clientAddress }),
      },
      'request',
    );
  };
}

/** What was no request at all still had an answer with an id. */
export function createUnparsableLog(log: Logger): (request: Unparsable) => void {
  return ({ requestId, status, reason }) => log.info({ request_id: requestId, status, reason }, 'not a request');
}

function withoutQuery(target: string): string {
  const mark = target.indexOf('?');
  return mark === -1 ? target : target.slice(0, mark);
}
