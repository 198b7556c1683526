import type { IncomingMessage } from 'node:http';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { errorOfStatus, parseTraceparent, type Span, type Tracing } from '@enterprise-api/shared/tracing';
import type { FinishedRequest } from './access-log.ts';
import type { RequestContext } from './request-context.ts';

/** Probes and scrapes come every few seconds, and nobody asks for their traces. */
const quietPaths = new Set(['/healthz', '/readyz', '/metrics']);

/**
 * Begins the span of a request. On the internal listener it continues the caller's trace. A client of the public listener
 * decides nothing about what we record, or it could have every request of its own recorded: a trace begins here, with a
 * link to the client's. The same holds where an ingress asks about a request of its client.
 *
 * @param continues whether the context that came with the request is that of a service of ours
 */
export function startRequestSpan(
  tracing: Tracing,
  continues: boolean,
  { headers, method }: Pick<IncomingMessage, 'headers' | 'method'>,
  path: string,
): Span | undefined {
  if (quietPaths.has(path)) return undefined;
  const given = parseTraceparent(headers.traceparent);
  const links = given === undefined || continues ? [] : [given];
  const attributes = { 'http.request.method': spanMethod(method), 'url.scheme': 'http' };
  return tracing.start(spanMethod(method), { kind: 'server', ...(continues && { parent: given }), links, attributes });
}

/** Names the span by its route, never by its path: a path has ids, and more values than anybody can look through. */
export function endRequestSpan(span: Span, context: RequestContext, request: FinishedRequest): void {
  const { requestId, route, organizationId, keyId, errorCode, eventIds } = context;
  const isKnown = route !== 'none';
  const method = spanMethod(request.method);
  span.end({
    name: isKnown ? `${method} ${route}` : method,
    attributes: {
      ...(isKnown && { 'http.route': route }),
      'http.response.status_code': request.status,
      'enterprise_api.request_id': requestId,
      ...(organizationId !== undefined && { 'enterprise_api.organization_id': toPublicId('org', organizationId) }),
      ...(keyId !== undefined && { 'enterprise_api.key_id': toPublicId('key', keyId) }),
      ...(errorCode !== undefined && { 'enterprise_api.error_code': errorCode }),
      ...(eventIds !== undefined && { 'enterprise_api.events': eventIds.length }),
    },
    error: request.aborted ? 'aborted' : errorOfStatus(request.status, true),
  });
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A client may send any word as a method. */
export function spanMethod(method: string | undefined): string {
  return method !== undefined && methods.has(method) ? method : '_OTHER';
}
