import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, type Socket, Server as TcpServer } from 'node:net';
import { setImmediate as afterPolling } from 'node:timers/promises';
import type { Logger } from '@enterprise-api/shared/runtime';
import { logMalformedRequest } from './access-log.ts';
import { isNextAnswer, noteAnswer } from './answer-order.ts';
import { limitConnections } from './connection-limit.ts';
import { answerMalformedRequest } from './malformed-request.ts';
import { hasOwnTimeLimits } from './own-time-limits.ts';

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
  silentMs: 60_000,
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
  log?: Logger;
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

function createHttpServer(handle: RequestListener, limits: ListenerLimits, log: ListenPlace['log']): Server {
  const serve: RequestListener = (request, response) => {
    noteAnswer(response);
    handle(request, response);
  };
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      maxHeaderSize: 16 * 1024,
      // The application refuses requests without Host, with a request id and an error body.
      requireHostHeader: false,
    },
    serve,
  );
  server.setTimeout(limits.silentMs);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Node.js reports a slow request once. Its parser goes on, as if nothing had happened, unless the socket is closed.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && hasOwnTimeLimits(socket)) return;
    // A reset, because in HTTP/1.0 a plain end would make the half of an answer a whole one.
    if (!isNextAnswer(socket)) return void socket.resetAndDestroy();
    const refused = answerMalformedRequest(error, socket);
    if (refused !== null && log !== undefined) logMalformedRequest(log, refused);
  });
  // `100 Continue` is sent by what reads the body, and only then: a refusal must come before the body does.
  server.on('checkContinue', serve);
  // An unknown expectation is no reason to refuse a request (RFC 9110, section 10.1.1).
  server.on('checkExpectation', serve);
  return server;
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
