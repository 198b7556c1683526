import type { PublicId, Uuid } from '@enterprise-api/shared/runtime';
import type { Request, Response } from 'express';

/** A request and its answer as the log line and the metrics show them. */
export interface RequestContext {
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Headers that every answer to this request has, whatever the answer is. */
  readonly headers: Record<string, string>;
  /** `/v1/webhooks/{id}` once the route is known; never the path, which has too many values for a metric. */
  route: string;
  organizationId?: Uuid;
  keyId?: Uuid;
  clientAddress?: string;
  errorCode?: string;
  /** Public ids of the events that the request emitted. */
  eventIds?: readonly PublicId<'evt'>[];
}

/** The context that the first middleware attached to this answer. */
export function requestContextOf(response: Response): RequestContext {
  return response.locals.requestContext as RequestContext;
}

export function setRequestContext(response: Response, context: RequestContext): void {
  response.locals.requestContext = context;
}

/** Path and query as the client wrote them; undecoded. */
export function targetOf(request: Request): { path: string; query: string } {
  const target = request.originalUrl.startsWith('/') ? request.originalUrl : fromAbsoluteForm(request.originalUrl);
  const mark = target.indexOf('?');
  return mark === -1 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

/** The target of `GET http://host/path HTTP/1.1`, the form that proxies receive (RFC 9112, section 3.2.2). */
function fromAbsoluteForm(target: string): string {
  const url = URL.parse(target);
  return url === null ? target : url.pathname + url.search;
}
