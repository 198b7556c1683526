import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Area } from '@enterprise-api/shared/contracts';
import { createLogger, systemClock } from '@enterprise-api/shared/runtime';
import { until } from '@enterprise-api/testkit';
import type { Request, Response } from 'express';
import {
  createForwarder,
  type Forwarder,
  type ForwarderOptions,
  type ForwardingLimits,
} from '../forwarding/forwarder.ts';
import { readTarget } from '../http/parsing/request-target.ts';
import { type Listener, listen } from '../http/server/listener.ts';
import type { RequestContext } from '../http/server/request-context.ts';
import type { TokenSubject } from '../identity/identity-tokens.ts';
import { type Behaviour, type RawUpstream, startRawUpstream } from './raw-upstream.ts';

/** A client that sends bytes as they are, and keeps all that it gets. */
interface ForwardingClient {
  readonly socket: Socket;
  /** Each character is one byte. */
  text(): string;
  /** Waits until all that came matches. */
  awaitText(pattern: RegExp): Promise<string>;
  /** Waits until the connection is closed, and returns all that came. */
  awaitClose(): Promise<string>;
  /** Whether the connection was reset. */
  wasReset(): boolean;
}

export interface ForwardingFixture {
  readonly upstream: RawUpstream;
  readonly listener: Listener;
  readonly forwarder: Forwarder;
  /** What was recorded of each request, in order. */
  readonly contexts: RequestContext[];
  readonly outcomes: string[];
  /** Permits of the limit of requests under way that are in use. */
  permitsInUse(): number;
  open(): ForwardingClient;
  /** Opens a connection and sends these bytes over it. */
  send(bytes: string | Buffer): ForwardingClient;
  close(): Promise<void>;
}

export interface FixtureOptions {
  onData?: Behaviour;
  limits?: Partial<ForwardingLimits>;
  /** Where requests go instead of the raw upstream. */
  base?: (upstreamUrl: string) => string;
  ca?: string;
  trustedProxies?: readonly string[];
  identityToken?: ForwarderOptions['identityToken'];
  /** Limit of the listener for whole requests; 30 s by default. */
  requestMs?: number;
  /** Limit of the listener for connections without a byte; 60 s by default. */
  silentMs?: number;
  /** Headers that every answer of ours has. */
  answerHeaders?: Readonly<Record<string, string>>;
  /** Settles when a request has been granted; at once by default. */
  judge?: (response: ServerResponse) => Promise<void>;
}

const organizationUuid = '019a0000-0000-7000-8000-000000000002';
const keyUuid = '019a0000-0000-7000-8000-000000000001';

/** The key of every request: the forwarder gets requests that a guard has granted. */
const grantedKey: TokenSubject = {
  id: keyUuid,
  scopes: ['consultations:read', 'consultations:write'],
  organization: { id: organizationUuid, plan: 'business' },
};

/** The forwarder behind the product's listener, in front of an upstream that sees bytes; without guard, stores and routes. */
export async function createForwardingFixture(options: FixtureOptions = {}): Promise<ForwardingFixture> {
  const upstream = await startRawUpstream(options.onData);
  const contexts: RequestContext[] = [];
  const outcomes: string[] = [];
  let permitsInUse = 0;
  const limits = { timeoutMs: 10_000, idleTimeoutMs: 10_000, concurrency: 100, maxBodyBytes: 4 * 1024 * 1024 };
  const base = new URL(options.base?.(upstream.url) ?? upstream.url);
  const forwarder = createForwarder({
    upstreams: new Map<Area, URL>([['consultations', base]]),
    limits: { ...limits, ...options.limits },
    ca: options.ca,
    trustedProxies: options.trustedProxies ?? [],
    clock: systemClock,
    identityToken: options.identityToken ?? (() => undefined),
    onEnd: (_area, outcome) => outcomes.push(outcome),
    onPermit: (_area, change) => {
      permitsInUse += change;
    },
  });
  const log = createLogger('test', 'silent');
  const place = { host: '127.0.0.1', port: 0, setting: 'nothing', trustedProxies: ['127.0.0.0/8'], log };
  const onCut = forwarder.cutAll;
  const listener = await listen(serve(forwarder, contexts, options), { ...place, onCut }, listenerLimits(options));
  const clients = new Set<Socket>();
  const open = () => {
    const client = openClient(Number(new URL(listener.url).port));
    clients.add(client.socket);
    return client;
  };
  return {
    upstream,
    listener,
    forwarder,
    contexts,
    outcomes,
    permitsInUse: () => permitsInUse,
    open,
    send: (bytes) => {
      const client = open();
      client.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
      return client;
    },
    close: async () => {
      for (const socket of clients) socket.destroy();
      await Promise.all([upstream.close(), listener.close()]);
      forwarder.close();
    },
  };
}

function listenerLimits({ requestMs = 30_000, silentMs = 60_000 }: FixtureOptions) {
  const slow = { headersMs: 10_000, requestMs, keepAliveMs: 65_000, silentMs };
  return {
    ...slow,
    headersMs: Math.min(10_000, requestMs),
    checkEveryMs: 50,
    connections: 1_000,
    connectionsPerPeer: 1_000,
  };
}

function serve(
  forwarder: Forwarder,
  contexts: RequestContext[],
  { judge, answerHeaders }: FixtureOptions,
): RequestListener {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const context: RequestContext = {
      requestId: 'req_of_test',
      target: readTarget(request.url ?? ''),
      startedAtMs: systemClock.monotonic(),
      headers: { 'X-Request-Id': 'req_of_test', 'X-RateLimit-Limit': '300' },
      route: '/v1/consultations',
      caller: { address: '203.0.113.7', area: 'consultations' },
      traceparent: undefined,
      span: undefined,
      bytesIn: 0,
      bytesOut: 0,
    };
    contexts.push(context);
    const ours = Object.assign(response, { locals: { requestContext: context } }) as unknown as Response;
    const asked = Object.assign(request, { originalUrl: request.url }) as unknown as Request;
    for (const [name, value] of Object.entries(answerHeaders ?? {})) response.setHeader(name, value);
    await judge?.(response);
    await forwarder.forward(asked, ours, { area: 'consultations', key: grantedKey });
  };
  return (request, response) => void answer(request, response);
}

function openClient(port: number): ForwardingClient {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  const chunks: Buffer[] = [];
  let wasReset = false;
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', (error: NodeJS.ErrnoException) => {
    wasReset ||= error.code === 'ECONNRESET';
  });
  const text = () => Buffer.concat(chunks).toString('latin1');
  return {
    socket,
    text,
    awaitText: (pattern) => until(`the client has received ${pattern}`, text, { holds: (all) => pattern.test(all) }),
    awaitClose: async () => {
      await until('the connection is closed', () => socket.closed);
      return text();
    },
    wasReset: () => wasReset,
  };
}

/** A GET of an item of the area. */
export function get(...headers: readonly string[]): string {
  return requestText('GET', headers);
}

/** A POST whose body is framed by its length, or as these headers say. */
export function post(body: string, ...headers: readonly string[]): string {
  const framing = headers.some((header) => /^(?:content-length|transfer-encoding)/i.test(header));
  return requestText('POST', framing ? headers : [`Content-Length: ${body.length}`, ...headers]) + body;
}

export function requestText(method: string, headers: readonly string[] = [], target = '/v1/consultations/c1'): string {
  return [`${method} ${target} HTTP/1.1`, 'Host: api.example', ...headers, '', ''].join('\r\n');
}
