import type { PublicId, Uuid } from '@enterprise-api/shared/runtime';
import type { Request, Response } from 'express';

/** One request and what became of it: what the log line and the metrics are made from. */
export interface Exchange {
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Of the answer, whatever it will be: they leave with its head, at once. */
  readonly headers: Record<string, string>;
  /** `/v1/webhooks/{id}` once the route is known; never the path, which has too many values for a metric. */
  route: string;
  organizationId?: Uuid;
  keyId?: Uuid;
  clientAddress?: string;
  errorCode?: string;
  /** Events that it emitted, as their public ids: what became of a request is found by them. */
  eventIds?: readonly PublicId<'evt'>[];
}

/** The exchange of this answer; the first middleware opens it. */
export function exchangeOf(response: Response): Exchange {
  return response.locals.exchange as Exchange;
}

export function openExchange(response: Response, exchange: Exchange): void {
  response.locals.exchange = exchange;
}

/** Path and query as the client wrote them; undecoded. */
export function targetOf(request: Request): { path: string; query: string } {
  const target = request.originalUrl.startsWith('/') ? request.originalUrl : fromAbsoluteForm(request.originalUrl);
  const mark = target.indexOf('?');
  return mark === -1 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

/** `GET http://host/path HTTP/1.1`, as proxies are asked (RFC 9112, section 3.2.2). */
function fromAbsoluteForm(target: string): string {
  const url = URL.parse(target);
  return url === null ? target : url.pathname + url.search;
}
