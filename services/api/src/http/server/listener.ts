import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import { type AddressInfo, type Socket, Server as TcpServer } from 'node:net';
import { type Problem, problem, problemBody } from '../../core/problem.ts';
import { requestIdOf } from './attach-request-context.ts';
import { limitConnections } from './connection-limit.ts';

export interface Listener {
  /** `http://127.0.0.1:3000` */
  readonly url: string;
  /** Takes no new connections, lets requests end, and then the connections. Once, however often it is called. */
  close(): Promise<void>;
}

/** What one client can take from the others by being slow, or many. */
export interface ListenerLimits {
  /** For the head of a request, from the first byte. */
  headersMs: number;
  /** For the whole request. */
  requestMs: number;
  keepAliveMs: number;
  /** How often the three are looked at. */
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
  checkEveryMs: 2_000,
  connections: 20_000,
  connectionsPerPeer: 2_000,
};

/** How long a kept-alive connection may still bring a request, which then learns to go elsewhere. */
const lastRequestWithinMs = 400;
/** After this, whoever still waits is cut off. */
const closeWithinMs = 12_000;

/** A request that is not one: its answer has an id, which is to be found again. */
export interface Unparsable {
  requestId: string;
  status: number;
  /** Node's name for what is wrong. */
  reason: string | undefined;
}

export interface ListenPlace {
  host: string;
  port: number;
  /** What an operator changes when the address cannot be had. */
  setting: string;
  trustedProxies: readonly string[];
  onUnparsable?: (request: Unparsable) => void;
}

/**
 * Listens.
 *
 * @throws an error that says what to do when the address cannot be had
 */
export async function listen(
  handle: RequestListener,
  place: ListenPlace,
  limits: ListenerLimits = usualLimits,
): Promise<Listener> {
  const server = createHttpServer(handle, limits, place.onUnparsable);
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
    closing ??= closeGently(server);
    return closing;
  };
  return { url: `http://${host}:${port}`, close };
}

function createHttpServer(
  handle: RequestListener,
  limits: ListenerLimits,
  onUnparsable: ListenPlace['onUnparsable'],
): Server {
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      maxHeaderSize: 16 * 1024,
      // A request without Host is answered by us, with an id and a body like any other.
      requireHostHeader: false,
    },
    handle,
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const refused = answerUnparsable(error, socket);
    if (refused !== null) onUnparsable?.(refused);
  });
  // An expectation that we do not know is no reason to refuse the request (RFC 9110, section 10.1.1).
  server.on('checkExpectation', handle);
  return server;
}

/** What Node's parser refuses never reaches the application: it is answered here, by hand, and the connection closed. */
function answerUnparsable(error: NodeJS.ErrnoException, socket: Socket): Unparsable | null {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return null;
  }
  const { status, found } = describe(error.code);
  const requestId = requestIdOf(undefined);
  const body = JSON.stringify(problemBody(found, requestId));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Cache-Control: no-store',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  return { requestId, status, reason: error.code };
}

function describe(code: string | undefined): { status: number; found: Problem } {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return { status: 431, found: problem('payload_too_large', { message: 'The request headers are too large.' }) };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { status: 408, found: problem('validation_failed', { message: 'The request did not arrive in time.' }) };
  }
  return { status: 400, found: problem('validation_failed', { message: 'The request is not valid HTTP.' }) };
}

/**
 * `server.close()` cuts idle connections at once, and a request that is just under way on one of them with it. So the
 * port is closed first; whoever still sends gets `Connection: close` with the answer; the idle rest goes a little later.
 */
async function closeGently(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    TcpServer.prototype.close.call(server, () => resolve());
  });
  const idle = setTimeout(() => server.close(), lastRequestWithinMs);
  const cut = setTimeout(() => server.closeAllConnections(), closeWithinMs);
  await closed;
  clearTimeout(idle);
  clearTimeout(cut);
  server.close();
}
