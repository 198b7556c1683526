import type { IncomingMessage } from 'node:http';
import type { UsageArea } from '@enterprise-api/shared/contracts';
import {
  type Clock,
  isSafeRequestId,
  newUuid,
  type PublicId,
  toPublicId,
  type Uuid,
} from '@enterprise-api/shared/runtime';
import { parseTraceparent, type Span, type Tracing } from '@enterprise-api/shared/tracing';
import type { RequestHandler, Response } from 'express';
import { type RequestTarget, readTarget } from '../parsing/request-target.ts';
import { type ReportOptions, reportRequest } from './request-report.ts';
import { startRequestSpan } from './request-span.ts';
import { securityHeaders } from './security-headers.ts';

/** A request and its answer, as the log, the metrics and the usage show them. */
export interface RequestContext {
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Path and query. */
  readonly target: RequestTarget;
  /** Headers that every answer to this request has, whatever the answer is. */
  readonly headers: Record<string, string>;
  /** The trace that what the request does belongs to (W3C's `traceparent`). */
  readonly traceparent: string | undefined;
  /** Of the request, where spans are recorded. */
  readonly span: Span | undefined;
  /** `/v1/webhooks/{id}` once the route is known; never the path, which has too many values for a metric. */
  route: string;
  /** The target of the request that an ingress asks about. Errors have the shape that they have there. */
  judgedTarget?: RequestTarget;
  /** Undefined on the internal listener, unless an ingress asks about a request. */
  caller?: Caller;
  /** Bytes of the request's body that were read, and of the answer's body that were written. */
  bytesIn: number;
  bytesOut: number;
  /** Of a request that was forwarded: the status of the upstream's answer, and how long its head took. */
  upstreamStatus?: number;
  upstreamMs?: number;
  errorCode?: string;
  /** Public ids of the events that the request emitted. */
  eventIds?: readonly PublicId<'evt'>[];
}

/** The caller of a request with an API key, as far as the checks have come. */
export interface Caller {
  readonly address: string;
  /** The area that the request is counted under; undefined for a path of neither an area nor the API. */
  readonly area: UsageArea | undefined;
  /** Once it is known. */
  key?: { readonly id: Uuid; readonly organization: { readonly id: Uuid } };
  /** Whether the checks of the head refused a known key: 403 or 429. */
  isRefused?: boolean;
}

export interface RequestContextOptions extends ReportOptions {
  clock: Clock;
  /** While the process is stopping, its connections are closed after the answer. */
  life: { readonly stopping: boolean };
  /** Whether a request to this path continues the trace that it names, because a service of ours sends it. */
  continuesTrace: (path: string) => boolean;
  /** Undefined where no spans are recorded. */
  tracing: Tracing | undefined;
}

/** An HTTP/1.1 request without `Host`, or a request with more than one (RFC 9112, section 3.2). */
export class HostHeaderError extends Error {
  override readonly name = 'HostHeaderError';
}

/**
 * The first middleware: gives every request its id and its context, and reports it when it is over. Refuses requests
 * whose `Host` is missing or repeated, once they have both.
 */
export function attachRequestContext(options: RequestContextOptions): RequestHandler {
  const { clock, life } = options;
  const onEveryAnswer = securityHeaders();
  return (request, response, next) => {
    const requestId = requestIdOf(request.headers['x-request-id']);
    const target = readTarget(request.originalUrl);
    const context: RequestContext = {
      requestId,
      startedAtMs: clock.monotonic(),
      target,
      headers: { ...onEveryAnswer, 'X-Request-Id': requestId, ...(life.stopping && { Connection: 'close' }) },
      ...traceOf(request, target.path, options),
      route: 'none',
      bytesIn: 0,
      bytesOut: 0,
    };
    response.locals.requestContext = context;
    response.once('close', () => reportRequest(context, response, clock.monotonic() - context.startedAtMs, options));
    const hosts = request.headersDistinct.host?.length ?? 0;
    const isRefused = hosts > 1 || (hosts === 0 && request.httpVersion === '1.1');
    next(isRefused ? new HostHeaderError() : undefined);
  };
}

function traceOf(request: IncomingMessage, path: string, { tracing, continuesTrace }: RequestContextOptions) {
  const given = parseTraceparent(request.headers.traceparent);
  const continues = given !== undefined && continuesTrace(path);
  const span = tracing && startRequestSpan(tracing, { method: request.method, path, given, continues });
  // A process that records no spans still passes the trace of a service of ours on.
  return { span, traceparent: span?.traceparent ?? (continues ? given : undefined) };
}

/** The context that the first middleware attached to this answer. */
export function requestContextOf(response: Response): RequestContext {
  return response.locals.requestContext as RequestContext;
}

/** Answers depend on the key: no cache may store them. */
export function forbidStorage(response: Response): void {
  requestContextOf(response).headers['Cache-Control'] = 'no-store';
}

/** The caller's own id if it is safe to repeat in headers and logs, else a new one. An API key is not safe. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && isSafeRequestId(header) ? header : toPublicId('req', newUuid());
}

/** Whether the head of a request announces a body. A chunked body may turn out to be empty. */
export function announcesBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || declaredLength(request) > 0;
}

/** `Content-Length`; 0 without it. */
export function declaredLength(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}

/** Whether the client waits for `100 Continue` before it sends its body. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return request.httpVersion === '1.1' && /^100-continue$/i.test(request.headers.expect ?? '');
}

/**
 * The token of `Authorization: Bearer`, from the values of each header line; null where none is presented. Two headers
 * are refused: a proxy in front of the API may have checked another one than we would.
 */
export function bearerToken(values: readonly string[] | undefined): string | null {
  const [value = '', ...more] = values ?? [];
  return more.length > 0 ? null : (/^bearer +([!-~]+)$/i.exec(value)?.[1] ?? null);
}
