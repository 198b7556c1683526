import type { IncomingMessage } from 'node:http';
import type { Area } from '@enterprise-api/shared/contracts';
import { errorOfStatus, type Span, type Tracing } from '@enterprise-api/shared/tracing';
import type { RequestContext } from '../http/server/request-context.ts';
import { spanMethod } from '../http/server/request-span.ts';
import { portOf } from './connection.ts';
import type { Outcome } from './exchange.ts';

/**
 * Begins the span of a request to an upstream. The upstream's own spans are its children. Undefined without tracing.
 */
export function startForwardSpan(
  tracing: Tracing | undefined,
  { method }: Pick<IncomingMessage, 'method'>,
  { area, context }: { area: Area; context: Pick<RequestContext, 'traceparent'> },
  origin: string,
): Span | undefined {
  if (tracing === undefined) return undefined;
  const url = new URL(origin);
  const attributes = {
    'http.request.method': spanMethod(method),
    'server.address': url.hostname,
    'server.port': portOf(url),
    'url.scheme': url.protocol.slice(0, -1),
    'enterprise_api.area': area,
  };
  return tracing.start(`${spanMethod(method)} ${area}`, { kind: 'client', parent: context.traceparent, attributes });
}

export function endForwardSpan(
  span: Span,
  outcome: Outcome,
  { upstreamStatus }: Pick<RequestContext, 'upstreamStatus'>,
): void {
  const error = upstreamStatus === undefined ? undefined : errorOfStatus(upstreamStatus, false);
  span.end({
    attributes: { 'http.response.status_code': upstreamStatus, 'enterprise_api.outcome': outcome },
    error: outcome === 'answered' ? error : outcome,
  });
}
