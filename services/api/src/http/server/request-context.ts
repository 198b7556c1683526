import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { areaCatalogue, areaOf, type UsageArea } from '@enterprise-api/shared/contracts';
import {
  type Clock,
  type Counter,
  type Histogram,
  isSafeRequestId,
  type Logger,
  newUuid,
  type PublicId,
  toPublicId,
  type Uuid,
} from '@enterprise-api/shared/runtime';
import { parseTraceparent, type Span, type Tracing, traceIdOf } from '@enterprise-api/shared/tracing';
import type { RequestHandler, Response } from 'express';
import { type RequestTarget, readTarget } from '../parsing/request-target.ts';
import { endRequestSpan, knownMethods, probePaths, startRequestSpan } from './request-span.ts';
import { securityHeaders } from './security-headers.ts';

export interface RequestContext {
  readonly requestId: string;
  readonly startedAtMs: number;
  readonly target: RequestTarget;
  /** Headers of every answer to this request, errors included. */
  readonly headers: Record<string, string>;
  /** The trace that the request's work belongs to (W3C `traceparent`). */
  readonly traceparent: string | undefined;
  readonly span: Span | undefined;
  /** `/v1/webhooks/{id}` once the route is known. Never the path, which has too many values for a metric. */
  route: string;
  /** The target of the request that an ingress asks about. Errors take the shape of that target's API. */
  judgedTarget?: RequestTarget;
  /** Undefined on the internal listener, unless an ingress asks about a request. */
  caller?: Caller;
  bytesIn: number;
  bytesOut: number;
  /** For a forwarded request: the upstream's status, and the time until the head of the upstream's answer arrived. */
  upstreamStatus?: number;
  upstreamMs?: number;
  errorCode?: string;
  eventIds?: readonly PublicId<'evt'>[];
}

/** The caller of a request with an API key. The checks set `key` and `isRefused`. */
export interface Caller {
  readonly address: string;
  /** The area for usage counts; undefined for a path outside the API and all areas. */
  readonly area: UsageArea | undefined;
  key?: { readonly id: Uuid; readonly organization: { readonly id: Uuid }; readonly session?: object };
  /** Whether the head's checks refused a known key (403 or 429). */
  isRefused?: boolean;
}

export interface RequestContextOptions {
  clock: Clock;
  log: Logger;
  listener: 'public' | 'internal';
  metrics: {
    requests: Pick<Counter, 'inc'>;
    durations: Pick<Histogram, 'observe'>;
    errors: Pick<Counter, 'inc'>;
  };
  usage: { count: (context: RequestContext, caller: Caller) => void };
  /** While the process is stopping, every answer closes its connection. */
  life: { readonly stopping: boolean };
  /** Whether a request to this path continues its incoming trace, because one of our services sends it. */
  continuesTrace: (path: string) => boolean;
  tracing: Tracing | undefined;
}

/** HTTP/1.1 requires exactly one `Host`; no version allows two (RFC 9112, section 3.2). */
export class HostHeaderError extends Error {
  override readonly name = 'HostHeaderError';
}

/** The answer to the newest request of each connection. */
export const latestAnswers = new WeakMap<Socket, ServerResponse>();
export const noteAnswer = ({ socket }: IncomingMessage, response: ServerResponse) =>
  latestAnswers.set(socket, response);

/**
 * The first middleware. Gives every request an id and a context, and reports the request after its end. Then refuses
 * requests whose `Host` is missing or repeated.
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
    response.once('close', () => reportRequest(context, response, options));
    const hosts = request.headersDistinct.host?.length ?? 0;
    const isRefused = hosts > 1 || (hosts === 0 && request.httpVersion === '1.1');
    next(isRefused ? new HostHeaderError() : undefined);
  };
}

function traceOf(request: IncomingMessage, path: string, { tracing, continuesTrace }: RequestContextOptions) {
  const { traceparent } = request.headers;
  const given = traceparent === undefined ? undefined : parseTraceparent(traceparent);
  const continues = given !== undefined && continuesTrace(path);
  const span = tracing && startRequestSpan(tracing, { method: request.method, path, given, continues });
  // If this process records no spans, it still passes on a trace that one of our services sent.
  return { span, traceparent: span?.traceparent ?? (continues ? given : undefined) };
}

/** Counts and logs a request after its answer was sent or its client hung up. */
function reportRequest(context: RequestContext, response: Response, options: RequestContextOptions): void {
  const { clock, log, listener, metrics, usage } = options;
  const { route, caller, errorCode, span } = context;
  const { method } = response.req;
  const [status, aborted] = [response.statusCode, !response.writableFinished];
  const durationMs = clock.monotonic() - context.startedAtMs;
  // Clients may invent methods, and the number of label values must stay bounded.
  const labels = { listener, method: knownMethods.has(method) ? method : 'other', route };
  metrics.requests.inc({ ...labels, status });
  metrics.durations.observe(labels, durationMs / 1_000);
  if (errorCode !== undefined) metrics.errors.inc({ listener, code: errorCode });
  if (caller !== undefined) usage.count(context, caller);
  if (span !== undefined) endRequestSpan(span, context, { method, status, aborted });
  const level = probePaths.has(route) && errorCode === undefined ? 'debug' : 'info';
  if (log.isLevelEnabled(level)) log[level](fieldsOf(context, response, durationMs), 'request');
}

/** Lists fields explicitly: headers, bodies and queries may hold secrets. The log leaves out undefined fields. */
function fieldsOf(context: RequestContext, { req, statusCode, writableFinished }: Response, durationMs: number) {
  const { caller, traceparent, upstreamMs } = context;
  return {
    request_id: context.requestId,
    method: req.method,
    path: loggedPath(context.target.path, req.originalUrl),
    route: context.route,
    status: statusCode,
    duration_ms: Number(durationMs.toFixed(1)),
    aborted: writableFinished ? undefined : true,
    area: caller?.area,
    upstream_status: context.upstreamStatus,
    upstream_ms: upstreamMs && Number(upstreamMs.toFixed(1)),
    event_ids: context.eventIds,
    trace_id: traceparent && traceIdOf(traceparent),
    error_code: context.errorCode,
    organization_id: caller?.key && toPublicId('org', caller.key.organization.id),
    key_id: caller?.key && (caller.key.session ? undefined : toPublicId('key', caller.key.id)),
    session_id: caller?.key?.session && toPublicId('ses', caller.key.id),
    client_address: caller?.address,
  };
}

const maxLoggedPath = 200;

/** Hides the ids in an area's path. They are subjects of events, and an erased subject must not remain in the log. */
function loggedPath(path: string, originalUrl: string): string {
  const area = path.startsWith('/v1/') ? areaOf(path) : undefined;
  if (area === undefined) return (originalUrl.split('?', 1)[0] ?? '').slice(0, maxLoggedPath);
  const base = areaCatalogue[area].path;
  return path === base ? base : `${base}/…`;
}

export function requestContextOf(response: Response): RequestContext {
  return response.locals.requestContext as RequestContext;
}

/** Answers depend on the key, so no cache may store them. */
export function forbidStorage(response: Response): void {
  requestContextOf(response).headers['Cache-Control'] = 'no-store';
}

/** The client's request id if it is safe to repeat in headers and logs, else a new one. API keys count as unsafe. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && isSafeRequestId(header) ? header : toPublicId('req', newUuid());
}

/** Whether the head announces a body. A chunked body may still be empty. */
export function announcesBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || declaredLength(request) > 0;
}

export function declaredLength(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}

export function awaitsContinue(request: IncomingMessage): boolean {
  return request.httpVersion === '1.1' && /^100-continue$/i.test(request.headers.expect ?? '');
}

/**
 * The token of `Authorization: Bearer`, given the value of each header line. Null if absent or repeated: with two
 * headers, a proxy before the API may have checked the other token.
 */
export function bearerToken(values: readonly string[] | undefined): string | null {
  const [value = '', ...more] = values ?? [];
  return more.length > 0 ? null : (/^bearer +([!-~]+)$/i.exec(value)?.[1] ?? null);
}
