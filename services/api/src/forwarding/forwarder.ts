import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Area } from '@enterprise-api/shared/contracts';
import type { Clock, Uuid } from '@enterprise-api/shared/runtime';
import type { Span, Tracing } from '@enterprise-api/shared/tracing';
import { createKeyedSemaphore } from '../core/keyed-semaphore.ts';
import { invalidHeader, type Problem, problem } from '../http/problem.ts';
import { sendProblem } from '../http/routing/respond.ts';
import type { AreaForwarder } from '../http/routing/serve-routes.ts';
import { isTrustedProxy } from '../http/server/client-address.ts';
import {
  announcesBody,
  awaitsContinue,
  declaredLength,
  type RequestContext,
  requestContextOf,
} from '../http/server/request-context.ts';
import { identityHeaders, type TokenSubject } from '../identity/identity-tokens.ts';
import { type ConnectionPool, createConnectionPool, createUpstreamTrust } from './connection.ts';
import { Exchange, type Outcome, type TimeLimits } from './exchange.ts';
import { endForwardSpan, startForwardSpan } from './forward-span.ts';
import { headersToPass } from './headers.ts';
import type { Upstreams } from './upstreams.ts';

export interface ForwardingLimits extends TimeLimits {
  /** Maximum concurrent requests per organization and area. */
  concurrency: number;
  maxBodyBytes: number;
}

export type ForwardOutcome = Outcome | 'rate_limited';

export interface ForwarderOptions {
  upstreams: Upstreams;
  limits: ForwardingLimits;
  /** Certificate authorities of https upstreams, in addition to the default ones (PEM). */
  ca?: string | undefined;
  trustedProxies: readonly string[];
  clock: Pick<Clock, 'monotonic'>;
  /** The token that proves to the upstream that we sent the request; undefined if no keys are configured. */
  identityToken: (key: TokenSubject, audience: Area) => Promise<string | undefined> | string | undefined;
  /** Called when a request starts and ends. A `rate_limited` request never starts. */
  onStart?: (area: Area) => void;
  onEnd?: (area: Area, outcome: ForwardOutcome, upstreamMs?: number) => void;
  /** Called when a request acquires a permit of `concurrency` (1) and when it releases the permit (-1). */
  onPermit?: (area: Area, change: 1 | -1) => void;
  tracing?: Tracing | undefined;
}

/** `originalUrl` is the path and query as received. The checks matched it, and the upstream gets it. */
type Received = IncomingMessage & { originalUrl: string };

interface ForwardedCall {
  area: Area;
  key: TokenSubject;
  context: RequestContext;
}

/** Forwards requests to their areas' upstreams. Answers requests that it refuses or whose upstream fails. */
export interface Forwarder extends AreaForwarder<{ key: TokenSubject }> {
  cutAll(): void;
  cutOrganization(id: Uuid): void;
  close(): void;
}

/** An upstream, which several areas may share. */
interface Target {
  origin: string;
  pool: ConnectionPool;
  basePath: string;
}

export function createForwarder(options: ForwarderOptions): Forwarder {
  const targets = createTargets(options);
  const { tryAcquire, release } = createKeyedSemaphore(options.limits.concurrency);
  const underWay = new Map<Exchange, Uuid>();
  const pass = async (request: Received, response: ServerResponse, call: ForwardedCall): Promise<Problem | null> => {
    const target = targets.get(call.area);
    if (target === undefined) return problem('not_found');
    const refused = refuseHead(request, options.limits.maxBodyBytes);
    if (refused !== null) return refused;
    const permit = `${call.area} ${call.key.organization.id}`;
    if (!tryAcquire(permit)) {
      options.onEnd?.(call.area, 'rate_limited');
      const message = 'Too many requests of the organization are under way in this area. Try again shortly.';
      return problem('rate_limited', { message, retryAfterSeconds: 1 });
    }
    options.onPermit?.(call.area, 1);
    try {
      if (response.socket === null && !(await becomesCurrent(request, response))) return null;
      const span = startForwardSpan(options.tracing, request, call, target.origin);
      const headers = await headersTo(request, call, options, span);
      if (awaitsContinue(request) && !request.complete) response.writeContinue();
      // If the connection closed during the checks, no `close` event follows.
      if (response.destroyed) return null;
      const exchange = new Exchange({ ...exchangeOptions(request, call, target, options), response, headers });
      underWay.set(exchange, call.key.organization.id);
      response.once('close', () => underWay.delete(exchange));
      return await run(exchange, call, options, span);
    } finally {
      release(permit);
      options.onPermit?.(call.area, -1);
    }
  };
  return {
    areas: new Set(targets.keys()),
    forward: async (request, response, { area, key }) => {
      const found = await pass(request, response, { area, key, context: requestContextOf(response) });
      if (found !== null) sendProblem(response, found);
    },
    cutAll: () => {
      for (const exchange of underWay.keys()) exchange.cut();
    },
    cutOrganization: (id) => {
      for (const [exchange, owner] of underWay) if (owner === id) exchange.cut();
    },
    close: () => {
      for (const { pool } of targets.values()) pool.close();
    },
  };
}

function createTargets({ upstreams, ca }: ForwarderOptions): ReadonlyMap<Area, Target> {
  const isSecure = [...upstreams.values()].some((url) => url.protocol === 'https:');
  const secureContext = isSecure ? createUpstreamTrust(ca) : undefined;
  const pools = new Map<string, ConnectionPool>();
  const targets = new Map<Area, Target>();
  for (const [area, { origin, pathname }] of upstreams) {
    const pool = pools.get(origin) ?? createConnectionPool({ origin, secureContext });
    pools.set(origin, pool);
    targets.set(area, { origin, pool, basePath: pathname.replace(/\/$/, '') });
  }
  return targets;
}

/**
 * Waits until the connection's earlier answers have been sent, because clients may send requests without waiting for
 * answers. If such requests were forwarded concurrently, their answers could overtake each other, and they would share
 * one idle time limit.
 *
 * @returns false if the connection was closed meanwhile
 */
function becomesCurrent(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  // If the connection closed during the checks, neither a `socket` nor a `close` event follows.
  if (request.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    response.once('socket', () => resolve(true));
    request.once('close', () => resolve(false));
  });
}

function refuseHead(request: IncomingMessage, maxBodyBytes: number): Problem | null {
  const { upgrade, 'transfer-encoding': coding } = request.headers;
  if (upgrade !== undefined) {
    return invalidHeader('Upgrade', 'is not supported');
  }
  // Servers disagree about other codings, and about chunks in HTTP/1.0. One server could read as a new request the
  // bytes that another server reads as the body.
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || request.httpVersion !== '1.1')) {
    return invalidHeader('Transfer-Encoding', 'must be chunked, in HTTP/1.1');
  }
  return declaredLength(request) > maxBodyBytes ? problem('payload_too_large') : null;
}

async function headersTo(
  request: IncomingMessage,
  { area, key, context }: ForwardedCall,
  { identityToken, trustedProxies }: ForwarderOptions,
  span: Span | undefined,
): Promise<string[]> {
  const token = identityToken(key, area);
  const signed = token instanceof Promise ? await token : token;
  const headers = headersToPass(request.rawHeaders, span !== undefined);
  const added = {
    'X-Request-Id': context.requestId,
    ...identityHeaders(key),
    'X-Forwarded-For': context.caller?.address ?? 'unknown',
    'X-Forwarded-Proto': protocolOf(request, trustedProxies),
  };
  for (const [name, value] of Object.entries(added)) headers.push(name, value);
  if (signed !== undefined) headers.push('X-Identity-Token', signed);
  if (span !== undefined) headers.push('traceparent', span.traceparent);
  const length = request.headers['content-length'];
  if (length !== undefined) headers.push('Content-Length', length);
  return headers;
}

/** The client's protocol as reported by a trusted proxy, otherwise the protocol of our own listener: HTTP. */
function protocolOf(request: IncomingMessage, trustedProxies: readonly string[]): string {
  const told = request.headers['x-forwarded-proto'];
  const isTold = told === 'https' && isTrustedProxy(request.socket.remoteAddress, trustedProxies);
  return isTold ? 'https' : 'http';
}

function exchangeOptions(
  request: Received,
  { context }: ForwardedCall,
  { pool, basePath }: Target,
  { limits, clock }: ForwarderOptions,
) {
  return {
    request,
    pool,
    path: basePath + request.originalUrl,
    hasBody: announcesBody(request),
    ...limits,
    ownHeaders: context.headers,
    record: context,
    monotonic: () => clock.monotonic(),
  };
}

async function run(
  exchange: Exchange,
  { area, context }: ForwardedCall,
  { onStart, onEnd }: ForwarderOptions,
  span: Span | undefined,
) {
  onStart?.(area);
  exchange.start();
  const { outcome, problem: found } = await exchange.result;
  onEnd?.(area, outcome, context.upstreamMs);
  if (span !== undefined) endForwardSpan(span, outcome, context);
  return found;
}
