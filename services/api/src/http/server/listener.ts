import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, type Socket, Server as TcpServer } from 'node:net';
import { setImmediate as afterPolling } from 'node:timers/promises';
import type { Logger } from '@enterprise-api/shared/runtime';
import { canonicalAddress, cidrContains } from '@enterprise-api/shared/security';
import { addressBucket } from './client-address.ts';
import { refuseMalformed } from './malformed-request.ts';
import { noteAnswer } from './request-context.ts';

export interface Listener {
  readonly url: string;
  /** Stops listening, waits for running requests, then closes their connections. Further calls await the first. */
  close(): Promise<void>;
}

export interface ListenerLimits {
  /** Limit for the head of a request, from its first byte. */
  headersMs: number;
  /** Limit for the whole request, unless the request has time limits of its own. */
  requestMs: number;
  keepAliveMs: number;
  /** Limit for a connection with a request but no traffic, because the client does not read the answer. */
  silentMs: number;
  /** Interval at which Node.js checks `headersMs` and `requestMs`. */
  checkEveryMs: number;
  connections: number;
  /** Maximum number of open connections of one peer (IPv6: of its /64). Trusted proxies have no such limit. */
  connectionsPerPeer: number;
}

const usualLimits: ListenerLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 65_000,
  // Exceeds the longest time that a statement of a request may run.
  silentMs: 60 * 1_000,
  checkEveryMs: 2_000,
  connections: 20_000,
  connectionsPerPeer: 2_000,
};

/** During a stop, an idle connection stays open this long. Requests on it get `Connection: close`. */
const lastRequestWithinMs = 400;
/** During a stop, requests that take longer than this lose their connections. */
const closeWithinMs = 12_000;

export interface ListenPlace {
  host: string;
  port: number;
  setting: string;
  trustedProxies: readonly string[];
  log: Logger;
  /** Called when a stop takes too long, before the open connections are cut. */
  onCut?: () => void;
}

/** @throws an error that names the settings, when the address cannot be used */
export async function listen(
  handle: RequestListener,
  place: ListenPlace,
  limits: ListenerLimits = usualLimits,
): Promise<Listener> {
  const server = createHttpServer(handle, limits, place.log);
  limitConnections(server, limits, place.trustedProxies);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new Error(`Cannot listen on ${place.host}:${place.port} (${error.code}). Check ${place.setting}.`));
    });
    server.listen(place.port, place.host, resolve);
  });
  const { address, family, port } = server.address() as AddressInfo;
  const host = family === 'IPv6' ? `[${address}]` : address;
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= closeGently(server, place.onCut);
    return closing;
  };
  return { url: `http://${host}:${port}`, close };
}

function createHttpServer(handle: RequestListener, limits: ListenerLimits, log: Logger): Server {
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    // The application refuses requests without Host: its answer has a request id and an error body.
    requireHostHeader: false,
  });
  // Only the body's reader sends `100 Continue`, because a refusal must precede the body. An unknown expectation is no
  // reason to refuse a request (RFC 9110, section 10.1.1).
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, noteAnswer).on(event, handle);
  server.setTimeout(limits.silentMs);
  server.on('clientError', (error, socket: Socket) => refuseMalformed(error, socket, log));
  return server;
}

/**
 * Closes connections beyond a limit before reading from them: each one costs memory and a file descriptor. A trusted
 * proxy carries many clients, so only the total limit applies to it.
 */
function limitConnections(server: Server, limits: ListenerLimits, trustedProxies: readonly string[]): void {
  const open = new Map<string, number>();
  server.maxConnections = limits.connections;
  server.on('connection', (socket: Socket) => {
    const address = canonicalAddress(socket.remoteAddress ?? '');
    // A connection that was reset immediately has no address.
    if (address === null) return void socket.destroy();
    if (trustedProxies.some((cidr) => cidrContains(cidr, address))) return;
    const peer = addressBucket(address);
    const count = (open.get(peer) ?? 0) + 1;
    open.set(peer, count);
    socket.once('close', () => {
      const left = (open.get(peer) ?? 1) - 1;
      if (left === 0) open.delete(peer);
      else open.set(peer, left);
    });
    if (count > limits.connectionsPerPeer) socket.destroy();
  });
}

/**
 * Stops the server without losing requests. `server.close()` would cut idle connections at once, together with requests
 * already in flight on them. So this function first closes the port. It then answers further requests with the header
 * `Connection: close`. It closes idle connections 400 ms later. Before it closes the port or the connections, the
 * event loop reads pending sockets. Requests may have arrived while the process was suspended.
 */
async function closeGently(server: Server, onCut: ListenPlace['onCut']): Promise<void> {
  await afterPolling();
  const closed = new Promise<void>((resolve) => {
    TcpServer.prototype.close.call(server, () => resolve());
  });
  const closeIdle = setTimeout(() => setImmediate(() => server.close()), lastRequestWithinMs);
  const cutAll = setTimeout(() => {
    onCut?.();
    server.closeAllConnections();
  }, closeWithinMs);
  await closed;
  clearTimeout(closeIdle);
  clearTimeout(cutAll);
  server.close();
}
