import { toPublicId } from '@enterprise-api/shared/runtime';
import { errorOfStatus, type Span, type Tracing } from '@enterprise-api/shared/tracing';
import type { RequestContext } from './request-context.ts';

/** Probes repeat every few seconds. They get no spans, and the log shows only failed ones at the level `info`. */
export const probePaths = new Set(['/healthz', '/readyz', '/metrics']);

/**
 * Begins the span of a request. On the internal listener the span continues the caller's trace. On the public listener
 * the span begins a new trace, with a link to the client's trace. A client that chose the trace could have all its
 * requests recorded. If an ingress asks about its client's request, the span also begins a new trace.
 */
export function startRequestSpan(
  tracing: Tracing,
  request: {
    method: string | undefined;
    path: string;
    given: string | undefined;
    continues: boolean;
  },
): Span | undefined {
  const { path, given, continues } = request;
  if (probePaths.has(path)) return undefined;
  const links = given === undefined || continues ? [] : [given];
  const method = spanMethod(request.method);
  const attributes = { 'http.request.method': method, 'url.scheme': 'http' };
  return tracing.start(method, { kind: 'server', ...(continues && { parent: given }), links, attributes });
}

/** Names the span by its route: paths contain ids and have too many values. */
export function endRequestSpan(
  span: Span,
  { requestId, route, caller, errorCode, eventIds }: RequestContext,
  answer: { method: string; status: number; aborted: boolean },
): void {
  const isKnown = route !== 'none';
  const method = spanMethod(answer.method);
  span.end({
    name: isKnown ? `${method} ${route}` : method,
    attributes: {
      ...(isKnown && { 'http.route': route }),
      'http.response.status_code': answer.status,
      'enterprise_api.request_id': requestId,
      ...(caller?.key !== undefined && {
        'enterprise_api.organization_id': toPublicId('org', caller.key.organization.id),
        ...(caller.key.session === undefined && { 'enterprise_api.key_id': toPublicId('key', caller.key.id) }),
      }),
      ...(errorCode !== undefined && { 'enterprise_api.error_code': errorCode }),
      ...(eventIds !== undefined && { 'enterprise_api.events': eventIds.length }),
    },
    error: answer.aborted ? 'aborted' : errorOfStatus(answer.status, true),
  });
}

/** Other methods become `_OTHER`, because a client may send any word as a method. */
export const knownMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export function spanMethod(method: string | undefined): string {
  return method !== undefined && knownMethods.has(method) ? method : '_OTHER';
}
