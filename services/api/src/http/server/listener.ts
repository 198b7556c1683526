import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, type Socket, Server as TcpServer } from 'node:net';
import { setImmediate as afterPolling } from 'node:timers/promises';
import type { Logger } from '@enterprise-api/shared/runtime';
import { canonicalAddress, cidrContains } from '@enterprise-api/shared/security';
import { addressBucket } from './client-address.ts';
import { noteAnswer } from './connection-state.ts';
import { refuseMalformed } from './malformed-request.ts';

export interface Listener {
  /** `http://127.0.0.1:3000` */
  readonly url: string;
  /** Stops listening, lets the running requests end, then closes their connections. Further calls wait for the first. */
  close(): Promise<void>;
}

/** Bounds on slow clients and on many connections. */
export interface ListenerLimits {
  /** Time for the head of a request, from its first byte. */
  headersMs: number;
  /** Time for the whole request, unless it has time limits of its own. */
  requestMs: number;
  keepAliveMs: number;
  /** How long nothing may go through a connection that has a request: its client does not read the answer. */
  silentMs: number;
  /** How often the first three times are checked. */
  checkEveryMs: number;
  /** Open connections in all. */
  connections: number;
  /** Open connections of one peer (IPv6: of its /64), unless it is a trusted proxy. */
  connectionsPerPeer: number;
}

const usualLimits: ListenerLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 65_000,
  // Longer than any statement of a request may run.
  silentMs: 60 * 1_000,
  checkEveryMs: 2_000,
  connections: 20_000,
  connectionsPerPeer: 2_000,
};

/** During a stop, how long an idle connection stays open: a request on it is answered with `Connection: close`. */
const lastRequestWithinMs = 400;
/** During a stop, how long requests may take before their connections are cut. */
const closeWithinMs = 12_000;

export interface ListenPlace {
  host: string;
  port: number;
  /** The settings that an operator changes when the address cannot be used. */
  setting: string;
  trustedProxies: readonly string[];
  /** Where requests that cannot be parsed are logged. */
  log: Logger;
  /** Called when a stop has taken too long, before the connections that are still open are cut. */
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
    maxHeaderSize: 16 * 1_024,
    // The application refuses requests without Host, with a request id and an error body.
    requireHostHeader: false,
  });
  // `100 Continue` is sent by what reads the body, and only then: a refusal must come before the body does. An unknown
  // expectation is no reason to refuse a request (RFC 9110, section 10.1.1).
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, noteAnswer).on(event, handle);
  server.setTimeout(limits.silentMs);
  server.on('clientError', (error, socket: Socket) => refuseMalformed(error, socket, log));
  return server;
}

/**
 * Closes connections beyond a limit, in all and per peer, before reading from them: every open connection costs memory
 * and a file descriptor. A trusted proxy carries many clients, so only the total limit applies to it.
 */
function limitConnections(server: Server, limits: ListenerLimits, trustedProxies: readonly string[]): void {
  const open = new Map<string, number>();
  server.maxConnections = limits.connections;
  server.on('connection', (socket: Socket) => {
    const address = canonicalAddress(socket.remoteAddress ?? '');
    // A connection that was reset at once has no address.
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
 * `server.close()` would cut idle connections at once, together with a request that is on its way over one of them. So
 * the port is closed first, requests that still arrive are answered with `Connection: close`, and connections that stay
 * idle are closed 400 ms later. Both happen after the event loop has taken what the kernel already holds: a process that
 * stood still must not refuse what came meanwhile.
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
