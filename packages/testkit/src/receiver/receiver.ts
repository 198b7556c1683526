import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { type Answer, answerBytes } from './answers.ts';
import type { KeyPairPem } from './certificates.ts';
import { type ReadRequest, RequestReader } from './request-reader.ts';

export type ReceivedRequest = ReadRequest & {
  /** 0, 1, 2, … over all connections, in the order of arrival. */
  order: number;
  /** 0, 1, 2, … which connection it came over. */
  connection: number;
  /** Milliseconds since 1970. */
  receivedAt: number;
};

type Respond = (request: ReceivedRequest) => Answer | Promise<Answer>;

export type ReceiverOptions = {
  certificate: KeyPairPem;
  /** The address to listen on; default 127.0.0.1. */
  host?: string;
  port?: number;
  /** The answer to each request; default 200. A promise delays the answer until it resolves. */
  respond?: Respond;
  /** Answers as soon as the head of a request is there, before its body. Nothing: the body is awaited. */
  respondEarly?: (head: Omit<ReadRequest, 'body'>) => Answer | undefined;
  /** Sees every TCP connection before TLS begins, and may destroy it. */
  onConnection?: (socket: Socket, connection: number) => void;
  tls?: TlsOptions;
};

export type Receiver = {
  port: number;
  /** `https://<host>:<port><path>`; the host is `localhost` unless given. */
  url(path?: string, host?: string): string;
  /** Every request with a complete body, in the order of arrival. */
  requests: ReceivedRequest[];
  /** TCP connections so far. */
  connections(): number;
  /** Answers differently from now on. */
  respond(respond: Respond): void;
  /** Resolves as soon as that many requests came, or as the condition holds; rejects after the time. */
  waitFor(
    condition: number | ((requests: ReceivedRequest[]) => boolean),
    timeoutMs?: number,
  ): Promise<ReceivedRequest[]>;
  /** Writes bytes that no request asked for into a connection. */
  write(connection: number, bytes: string | Buffer): void;
  /** Ends every open connection with an RST, at once. */
  resetConnections(): void;
  close(): Promise<void>;
};

type Waiter = () => void;
type Accepted = { number: number; tcp: Socket; tls?: TLSSocket };
/** A TLS connection and the TCP connection under it, which alone can be reset. */
type Wire = { tls: TLSSocket; tcp: Socket };

/** A real HTTPS receiver on loopback that records what comes and behaves as badly as a test wants. */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  let respond: Respond = options.respond ?? (() => ({}));
  let connections = 0;
  const requests: ReceivedRequest[] = [];
  const waiters = new Set<Waiter>();
  const sockets = new Set<Socket>();
  const record = (request: ReadRequest, connection: number): ReceivedRequest => {
    const received = { ...request, order: requests.length, connection, receivedAt: Date.now() };
    requests.push(received);
    for (const waiter of waiters) waiter();
    return received;
  };
  const server = createServer({ ...options.certificate, ...options.tls });
  const accepted = new Map<number | undefined, Accepted>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => {}));
    accepted.set(socket.remotePort, { number: connections, tcp: socket });
    options.onConnection?.(socket, connections);
    connections += 1;
  });
  // A client that hangs up during the handshake is what some tests are about.
  server.on('tlsClientError', () => {});
  server.on('secureConnection', (socket) => {
    const connection = accepted.get(socket.remotePort);
    if (connection === undefined) return;
    connection.tls = socket;
    const answer = (request: ReadRequest) => respond(record(request, connection.number));
    converse({ tls: socket, tcp: connection.tcp }, answer, options.respondEarly);
  });
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: (path = '/', host = 'localhost') => `https://${host}:${port}${path}`,
    requests,
    connections: () => connections,
    respond: (next) => {
      respond = next;
    },
    waitFor: (condition, timeoutMs = 10_000) => waitFor(requests, waiters, condition, timeoutMs),
    write(number, bytes) {
      for (const connection of accepted.values()) if (connection.number === number) connection.tls?.write(bytes);
    },
    resetConnections() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** Answers the requests of one connection, one after the other. */
function converse(
  wire: Wire,
  respond: (request: ReadRequest) => Answer | Promise<Answer>,
  respondEarly: ReceiverOptions['respondEarly'],
): void {
  const reader = new RequestReader();
  let answered = Promise.resolve();
  let isAnswered = false;
  wire.tls.setNoDelay(true).on('error', () => {});
  wire.tls.on('data', (chunk: Buffer) => {
    reader.push(chunk);
    for (let head = reader.head(); head !== null; head = reader.head()) {
      const early = isAnswered ? undefined : respondEarly?.(head);
      if (early !== undefined) void give(wire, early);
      isAnswered ||= early !== undefined;
      const request = reader.next();
      if (request === null) return;
      if (!isAnswered) {
        const answer = respond(request);
        answered = answered.then(async () => give(wire, await answer));
      }
      isAnswered = false;
    }
  });
}

async function give(wire: Wire, answer: Answer): Promise<void> {
  if (answer === 'hang') return;
  if (answer === 'end') wire.tls.end();
  else if (answer === 'reset') wire.tls.write('', () => wire.tcp.resetAndDestroy());
  else if (!('raw' in answer)) wire.tls.write(answerBytes(answer));
  else {
    const { raw, after = 'keep' } = answer;
    if (typeof raw === 'string' || Buffer.isBuffer(raw)) wire.tls.write(raw);
    else await pour(wire.tls, raw);
    if (after !== 'keep') await give(wire, after);
  }
}

/** Writes until the bytes or the connection end, no faster than they are taken. */
async function pour(socket: TLSSocket, bytes: AsyncIterable<string | Buffer>): Promise<void> {
  for await (const chunk of bytes) {
    if (socket.destroyed) return;
    if (chunk.length === 0 || socket.write(chunk)) continue;
    await new Promise<void>((resolve) => {
      const goOn = () => {
        socket.off('drain', goOn).off('close', goOn);
        resolve();
      };
      socket.on('drain', goOn).on('close', goOn);
    });
  }
}

function waitFor(
  requests: ReceivedRequest[],
  waiters: Set<Waiter>,
  condition: number | ((requests: ReceivedRequest[]) => boolean),
  timeoutMs: number,
): Promise<ReceivedRequest[]> {
  const holds = () => (typeof condition === 'number' ? requests.length >= condition : condition(requests));
  return new Promise((resolve, reject) => {
    if (holds()) return resolve(requests);
    const timer = setTimeout(() => {
      waiters.delete(waiter);
      reject(
        new Error(
          `The receiver did not get what was waited for within ${timeoutMs} ms; it has ${requests.length} requests.`,
        ),
      );
    }, timeoutMs);
    const waiter = () => {
      if (!holds()) return;
      clearTimeout(timer);
      waiters.delete(waiter);
      resolve(requests);
    };
    waiters.add(waiter);
  });
}
