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
import type { FinishedRequest } from './access-log.ts';
import { startRequestSpan } from './request-span.ts';
import { securityHeaders } from './security-headers.ts';

/** A request and its answer as the log line and the metrics show them. */
export interface RequestContext {
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Path and query. */
  readonly target: RequestTarget;
  /** The target of the request that an ingress asks about. Errors have the shape that they have there. */
  judgedTarget?: RequestTarget;
  /** Headers that every answer to this request has, whatever the answer is. */
  readonly headers: Record<string, string>;
  /** `/v1/webhooks/{id}` once the route is known; never the path, which has too many values for a metric. */
  route: string;
  /** What the request is counted under once its key is known; undefined for a path of neither an area nor the API. */
  area?: UsageArea | undefined;
  /** Whether the checks of its head refused a known key: 403 or 429. */
  isRefused?: boolean;
  organizationId?: Uuid;
  keyId?: Uuid;
  /** Bytes of the request's body that were read, and of the answer's body that were written. */
  bytesIn: number;
  bytesOut: number;
  /** Of a request that was forwarded: the status of the upstream's answer, and how long its head took. */
  upstreamStatus?: number;
  upstreamMs?: number;
  clientAddress?: string;
  errorCode?: string;
  /** Public ids of the events that the request emitted. */
  eventIds?: readonly PublicId<'evt'>[];
  /** The trace that what the request does belongs to (W3C's `traceparent`). */
  traceparent?: string | undefined;
  /** Of the request, where spans are recorded. */
  span?: Span | undefined;
}

export interface RequestContextOptions {
  clock: Clock;
  /** Whether the process is stopping: its connections are then closed after the answer. */
  isStopping: () => boolean;
  /** Whether a request to this path continues the trace that it names, because a service of ours sends it. */
  continuesTrace?: (path: string) => boolean;
  /** Undefined where no spans are recorded. */
  tracing?: Tracing | undefined;
  /** Called once per request, when its answer was sent or its client has hung up. */
  onFinished: (context: RequestContext, request: FinishedRequest) => void;
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
  const { clock, isStopping, onFinished } = options;
  const onEveryAnswer = securityHeaders();
  return (request, response, next) => {
    const requestId = requestIdOf(request.headers['x-request-id']);
    const context: RequestContext = {
      requestId,
      startedAtMs: clock.monotonic(),
      target: readTarget(request.originalUrl),
      headers: { ...onEveryAnswer, 'X-Request-Id': requestId, ...(isStopping() && { Connection: 'close' }) },
      route: 'none',
      bytesIn: 0,
      bytesOut: 0,
    };
    attachTrace(context, request, options);
    response.locals.requestContext = context;
    response.once('close', () => {
      const { method, originalUrl: target } = request;
      onFinished(context, { method, target, status: response.statusCode, aborted: !response.writableFinished });
    });
    const hosts = request.headersDistinct.host?.length ?? 0;
    const isRefused = hosts > 1 || (hosts === 0 && request.httpVersion === '1.1');
    next(isRefused ? new HostHeaderError() : undefined);
  };
}

function attachTrace(context: RequestContext, request: IncomingMessage, options: RequestContextOptions): void {
  const { tracing, continuesTrace = () => false } = options;
  const { path } = context.target;
  const continues = continuesTrace(path);
  if (tracing !== undefined) context.span = startRequestSpan(tracing, continues, request, path);
  // A process that records no spans still passes the trace of a service of ours on.
  const given = continues ? parseTraceparent(request.headers.traceparent) : undefined;
  context.traceparent = context.span?.traceparent ?? given;
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
