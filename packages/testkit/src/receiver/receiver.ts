import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls';
import { until } from '../until.ts';
import type { Answer } from './answers.ts';
import type { KeyPairPem } from './certificates.ts';
import { converse, type Responders } from './converse.ts';
import type { ReadRequest } from './request-reader.ts';

export type ReceivedRequest = ReadRequest & {
  /** 0, 1, 2, … over all connections, in the order of arrival. */
  order: number;
  /** The connection it came over, numbered 0, 1, 2, …. */
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
  /** Answers as soon as the head of a request is there, before its body. Undefined: the body is awaited. */
  respondEarly?: Responders['respondEarly'];
  /** Called with every TCP connection before TLS begins; may destroy it. */
  onConnection?: (socket: Socket, connection: number) => void;
  tls?: TlsOptions;
};

/** Starts a real HTTPS receiver on loopback that records its requests and behaves as badly as a test wants. */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const receiver = new Receiver(options);
  await receiver.listen(options);
  return receiver;
}

type Accepted = { number: number; tcp: Socket; tls?: TLSSocket };

export class Receiver {
  /** Every request with a complete body, in the order of arrival. */
  readonly requests: ReceivedRequest[] = [];
  readonly #server: Server;
  readonly #options: ReceiverOptions;
  readonly #sockets = new Set<Socket>();
  /** By the client's port. */
  readonly #accepted = new Map<number | undefined, Accepted>();
  #respond: Respond;
  #connections = 0;
  #port = 0;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#respond = options.respond ?? (() => ({}));
    this.#server = createServer({ ...options.certificate, ...options.tls });
    this.#server.on('connection', (socket: Socket) => this.#accept(socket));
    // Some tests let the client hang up during the handshake.
    this.#server.on('tlsClientError', () => {});
    this.#server.on('secureConnection', (socket) => this.#serve(socket));
  }

  async listen({ port = 0, host = '127.0.0.1' }: Pick<ReceiverOptions, 'port' | 'host'>): Promise<void> {
    await once(this.#server.listen(port, host), 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  get port(): number {
    return this.#port;
  }

  /** `https://<host>:<port><path>`; the host is `localhost` unless given. */
  url(path = '/', host = 'localhost'): string {
    return `https://${host}:${this.port}${path}`;
  }

  /** TCP connections so far. */
  connections(): number {
    return this.#connections;
  }

  /** Answers differently from now on. */
  respond(respond: Respond): void {
    this.#respond = respond;
  }

  /** Resolves when that many requests came, or the condition holds; rejects after the time. */
  waitFor(
    condition: number | ((requests: ReceivedRequest[]) => boolean),
    withinMs = 60_000,
  ): Promise<ReceivedRequest[]> {
    const what = typeof condition === 'number' ? `${condition} requests` : 'the requests waited for';
    const hasCome = () =>
      typeof condition === 'number' ? this.requests.length >= condition : condition(this.requests);
    return until(what, hasCome, { withinMs, everyMs: 2 }).then(
      () => this.requests,
      (error) => {
        throw new Error(`The receiver has ${this.requests.length} requests.`, { cause: error });
      },
    );
  }

  /** Writes bytes that no request asked for into a connection. */
  write(connection: number, bytes: string | Buffer): void {
    for (const { number, tls } of this.#accepted.values()) if (number === connection) tls?.write(bytes);
  }

  /** Ends every open connection with an RST, at once. */
  resetConnections(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket.on('close', () => this.#sockets.delete(socket)).on('error', () => {}));
    const number = this.#connections++;
    this.#accepted.set(socket.remotePort, { number, tcp: socket });
    this.#options.onConnection?.(socket, number);
  }

  #serve(tls: TLSSocket): void {
    const connection = this.#accepted.get(tls.remotePort);
    if (connection === undefined) return;
    connection.tls = tls;
    converse(
      { tls, tcp: connection.tcp },
      {
        respond: (request) => this.#respond(this.#record(request, connection.number)),
        respondEarly: this.#options.respondEarly,
      },
    );
  }

  #record(request: ReadRequest, connection: number): ReceivedRequest {
    const received = { ...request, order: this.requests.length, connection, receivedAt: Date.now() };
    this.requests.push(received);
    return received;
  }
}
