import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { InformationalFilter } from '@enterprise-api/shared/runtime';
import { Client } from 'undici';

interface Destination {
  readonly origin: string;
  readonly secureContext: SecureContext | undefined;
}

/** Maximum bytes of an upstream's response head. */
const maxHeaderSize = 32 * 1024;

/** One connection to an upstream. Carries at most one request at a time. */
export class UpstreamConnection {
  readonly client: Client;
  #socket: Socket | undefined;
  #filter: InformationalFilter | undefined;
  #requests = 0;
  #hasFailed = false;

  /** @param onEnd called when an open connection has ended */
  constructor(destination: Destination, onEnd: (connection: UpstreamConnection) => void) {
    this.client = new Client(destination.origin, {
      connect: (_options, callback) => this.#connect(destination, callback),
      pipelining: 1,
      allowH2: false,
      maxHeaderSize,
      // The exchange enforces its own time limits instead of undici's.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.client.on('disconnect', () => onEnd(this));
  }

  begin(): void {
    this.#requests += 1;
    this.#filter?.arm();
  }

  isOpen(): boolean {
    return this.#socket?.destroyed === false && !this.client.destroyed;
  }

  /** True if the connection had served an earlier request, and received no response byte for the current one. */
  get diedUnanswered(): boolean {
    return this.#requests > 1 && this.#filter?.sawBytes === false;
  }

  /** True if the socket reported an error. A body that ends with the connection is then incomplete. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** True if the operating system took every byte written to the connection. */
  get isAllSent(): boolean {
    return this.#socket?.writableLength === 0;
  }

  destroy(): void {
    this.#socket?.destroy();
    if (!this.client.destroyed) void this.client.destroy();
  }

  /** Also called for a reconnect: if the connection ends before undici wrote a request, undici reconnects by itself. */
  #connect({ origin, secureContext }: Destination, callback: ConnectCallback): void {
    const url = new URL(origin);
    const isSecure = url.protocol === 'https:';
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const place = { host, port: portOf(url), noDelay: true, keepAlive: true };
    const servername = isIP(host) === 0 ? host : '';
    const socket = isSecure
      ? connectTls({ ...place, secureContext, servername, ALPNProtocols: ['http/1.1'] })
      : connectPlain(place);
    this.#socket = socket;
    this.#requests = 0;
    this.#hasFailed = false;
    const fail = (error: Error) => {
      socket.off('close', failLost);
      callback(error, null);
    };
    const failLost = () => fail(new Error('The connection was lost.'));
    socket
      .once('error', fail)
      .once('close', failLost)
      // This listener is permanent: an error without a listener would end the process.
      .on('error', () => {
        this.#hasFailed = true;
      })
      .once(isSecure ? 'secureConnect' : 'connect', () => {
        socket.off('error', fail).off('close', failLost);
        this.#filter = new InformationalFilter(socket, () => new Error('Informational responses without end.'));
        callback(null, socket);
      });
  }
}

type ConnectCallback = (...result: [null, Socket] | [Error, null]) => void;

export function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}

/** The connections to one upstream: one per request in progress. Idle connections stay open for later requests. */
export interface ConnectionPool {
  /** Returns the idle connection that was used last, or a new one. */
  acquire(): UpstreamConnection;
  open(): UpstreamConnection;
  /** Keeps a connection after a complete answer. */
  release(connection: UpstreamConnection): void;
  close(): void;
}

export function createConnectionPool(destination: Destination): ConnectionPool {
  const idle: UpstreamConnection[] = [];
  const onEnd = (connection: UpstreamConnection) => {
    const index = idle.lastIndexOf(connection);
    if (index === -1) return;
    idle.splice(index, 1);
    connection.destroy();
  };
  const open = () => new UpstreamConnection(destination, onEnd);
  return {
    acquire: () => {
      for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
        if (connection.isOpen()) return connection;
        connection.destroy();
      }
      return open();
    },
    open,
    release: (connection) => {
      if (connection.isOpen()) idle.push(connection);
      else connection.destroy();
    },
    close: () => {
      for (const connection of idle.splice(0)) connection.destroy();
    },
  };
}

/**
 * Created once for all upstreams: reading the root certificates for each handshake would cost more than the handshake.
 */
export function createUpstreamTrust(ca: string | undefined) {
  const authorities = getCACertificates('default');
  return createSecureContext({ minVersion: 'TLSv1.2', ca: ca === undefined ? authorities : [...authorities, ca] });
}
