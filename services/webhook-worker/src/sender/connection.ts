import { isIP, isIPv6, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import { type ConnectionOptions, connect, createSecureContext, getCACertificates, type TLSSocket } from 'node:tls';
import { InformationalFilter } from '@enterprise-api/shared/runtime';
import type { AddressPolicy } from '@enterprise-api/shared/security';
import { Client } from 'undici';
import {
  connectFailure,
  connectionLost,
  destinationBlocked,
  exchangeFailure,
  type Failure,
  FailureError,
  isWithoutRoute,
  OutageRecord,
  tlsFailure,
  tooManyInformational,
} from './failures.ts';

export type ConnectorOptions = {
  policy: AddressPolicy;
  /** PEM certificates of authorities trusted in addition to the usual ones. */
  ca?: string | undefined;
  /** The monotonic clock, milliseconds. */
  monotonic: () => number;
  /** Told when a connection has ended, for whatever reason. */
  onClose: (connection: Connection) => void;
  /** Told when a socket has reached an address that it may not write to. */
  onBlocked?: () => void;
};

export type Connector = (route: Route) => Connection;

/** A silent address delays the next one by this long; one that refuses or is unreachable does not. */
const nextAddressAfterMs = 1_000;

/**
 * Makes connections that cannot lead into our own network. The socket gets exactly the addresses that were checked, and
 * the address it connected to is checked again before the first byte, even of TLS, is written. SNI, `Host` and the
 * certificate check use the name. No proxy, no HTTP/2, no session resumption (it skips the certificate check).
 */
export function createConnector({ policy, ca, monotonic, onClose, onBlocked }: ConnectorOptions): Connector {
  // One for all: reading the root certificates for each handshake would cost more than the handshake.
  const secureContext = createSecureContext({
    minVersion: 'TLSv1.2',
    ca: ca === undefined ? getCACertificates('default') : [...getCACertificates('default'), ca],
  });
  const open = (route: Route): TLSSocket => {
    const options: ConnectionOptions & TcpNetConnectOpts = {
      host: route.host,
      port: route.port,
      servername: isIP(route.host) === 0 ? route.host : '',
      lookup: pinned(route.addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: nextAddressAfterMs,
      secureContext,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true,
    };
    const socket = connect(options).setNoDelay(true);
    // Before TLS's own listener, which would write the first bytes of the handshake.
    socket.prependOnceListener('connect', () => {
      const peer = socket.remoteAddress;
      // A socket that was reset at once has no address.
      if (peer === undefined) socket.destroy(new FailureError(connectionLost));
      else if (!route.addresses.includes(peer) || !policy.permits(peer)) {
        onBlocked?.();
        socket.destroy(new FailureError(destinationBlocked));
      }
    });
    return socket;
  };
  const outages = { 4: new OutageRecord(monotonic), 6: new OutageRecord(monotonic) };
  return (route) => new Connection(route, { open, outages, monotonic, onClose });
}

/** Answers each look-up of the socket with the checked addresses. Node.js does not call it for IP literals. */
function pinned(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_host, options, callback) => {
    process.nextTick(() => {
      if (options.all) callback(null, answers);
      else callback(null, answers[0]?.address ?? '', answers[0]?.family);
    });
  };
}

/** Where to connect: a host, and the checked addresses that the connection is pinned to. */
export type Route = {
  origin: string;
  host: string;
  port: number;
  addresses: readonly string[];
};

const maxHeaderSize = 16_384;
const keepAliveMs = 30_000;
const keepAliveMaxMs = 60_000;
/** Close an idle connection this long before the server announced to: no request meets its closing. */
const keepAliveMarginMs = 1_000;

/** What all connections of a connector share. */
export type ConnectionParts = {
  /** Opens a socket that leads to one of the route's addresses, or ends with an error. */
  open: (route: Route) => TLSSocket;
  /** By address family: whether our own network is down. */
  outages: Record<4 | 6, OutageRecord>;
  /** The monotonic clock, milliseconds. */
  monotonic: () => number;
  /** Told when a connection has ended, for whatever reason. */
  onClose: (connection: Connection) => void;
};

/** One connection with at most one request at a time. The first request connects it, and it never connects again. */
export class Connection {
  readonly origin: string;
  readonly client: Client;
  stage: 'connecting' | 'securing' | 'open' = 'connecting';
  peer: string | null = null;
  /** Milliseconds, once known. */
  connectMs: number | null = null;
  tlsMs: number | null = null;
  readonly #route: Route;
  readonly #parts: ConnectionParts;
  #socket: TLSSocket | null = null;
  #filter: InformationalFilter | null = null;
  /** Of the address family of the peer. */
  #outages: OutageRecord | null = null;
  /** undici reports the last error, and the first one says more: after a TLS alert, writing fails as well. */
  #firstError: Error | null = null;

  constructor(route: Route, parts: ConnectionParts) {
    this.origin = route.origin;
    this.#route = route;
    this.#parts = parts;
    this.client = new Client(route.origin, {
      connect: (_options, callback) => this.#connect(callback),
      pipelining: 1,
      allowH2: false,
      maxHeaderSize,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMaxMs,
      keepAliveTimeoutThreshold: keepAliveMarginMs,
      // The attempt has one deadline of its own over everything.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.client.on('disconnect', () => {
      parts.onClose(this);
      this.destroy();
    });
  }

  isOpen(): boolean {
    return this.#socket?.destroyed === false;
  }

  /** Whether everything that was written has left this process. */
  isDrained(): boolean {
    return this.#socket?.writableLength === 0;
  }

  /** The first byte of a request is about to be written. */
  begin(): void {
    this.#filter?.arm();
  }

  /** An answer came: the network works for this address family. */
  noteAnswer(): void {
    if (this.#outages?.hasFailures === true) this.#outages.succeeded(this.origin);
  }

  /** Whether any byte of an answer to the current request came, be it of an informational response. */
  get sawBytes(): boolean {
    return this.#filter?.sawBytes === true;
  }

  /** Why this connection ended. @param reported what undici says */
  failureOf(reported: Error): Failure {
    return exchangeFailure(reported instanceof FailureError ? reported : (this.#firstError ?? reported));
  }

  destroy(): void {
    this.#socket?.destroy();
    if (!this.client.destroyed) void this.client.destroy();
  }

  #connect(callback: ConnectCallback): void {
    // undici would connect again for a request that waits; whether to do that is the sender's decision.
    if (this.#socket !== null || this.client.destroyed) return callback(new FailureError(connectionLost), null);
    const { open, monotonic } = this.#parts;
    const startedAt = monotonic();
    let connectedAt = startedAt;
    const socket = open(this.#route);
    this.#socket = socket;
    const fail = (error: Error) => {
      socket.off('error', fail).off('close', failLost);
      callback(new FailureError(this.#failureToConnect(error)), null);
    };
    const failLost = () => fail(new FailureError(connectionLost));
    socket
      .on('error', fail)
      .on('close', failLost)
      .once('connect', () => {
        this.stage = 'securing';
        connectedAt = monotonic();
        this.connectMs = connectedAt - startedAt;
        this.#outages = this.#parts.outages[familyOf(socket.remoteAddress)];
        this.#outages.succeeded(this.origin);
      })
      .once('secureConnect', () => {
        this.stage = 'open';
        this.tlsMs = monotonic() - connectedAt;
        this.peer = socket.remoteAddress ?? null;
        this.#filter = new InformationalFilter(socket, () => new FailureError(tooManyInformational));
        socket.off('error', fail).off('close', failLost);
        callback(null, socket);
      })
      // Listens for good: an error without a listener would end the process.
      .on('error', (error) => {
        this.#firstError ??= error;
      });
  }

  #failureToConnect(error: Error): Failure {
    if (this.stage !== 'connecting') return tlsFailure(error, hasCertificate(this.#socket));
    const { addresses, origin } = this.#route;
    const families = new Set(isWithoutRoute(error) ? addresses.map(familyOf) : []);
    const areDown = [...families].map((family) => this.#parts.outages[family].failed(origin));
    return connectFailure(error, areDown.length > 0 && !areDown.includes(false));
  }
}

type ConnectCallback = (...result: [null, TLSSocket] | [Error, null]) => void;

function familyOf(address: string | undefined): 4 | 6 {
  return address !== undefined && isIPv6(address) ? 6 : 4;
}

/** Whether the receiver's certificate has come. */
function hasCertificate(socket: TLSSocket | null): boolean {
  return Object.keys(socket?.getPeerCertificate() ?? {}).length > 0;
}

/** What the pool needs to know of a connection. */
export type PooledConnection = {
  readonly origin: string;
  /** The remote address; null until it is connected. */
  readonly peer: string | null;
  isOpen(): boolean;
  destroy(): void;
};

/** The number of connections that a busy origin needs varies: one that was idle for so long is spare. */
const spareAfterMs = 1_000;

/**
 * Idle connections, by origin. One is reused only while its peer is among the addresses that the host has now, so that a
 * host that moved takes its deliveries along. Their number is bounded. The first to be closed is a spare one of an origin
 * that has others, then the one that has been idle longest: with a thousand origins, the connections that a busy origin
 * needed once would otherwise push out the only ones of other origins.
 */
export class ConnectionPool<Connection extends PooledConnection> {
  readonly #maxIdle: number;
  readonly #byOrigin = new Map<string, Connection[]>();
  /** In the order in which they became idle. */
  readonly #idle = new Set<Connection>();
  /** All but the first of each origin, and since when they are idle (monotonic). */
  readonly #spare = new Map<Connection, number>();
  readonly #monotonic: () => number;

  constructor(maxIdle: number, monotonic: () => number) {
    this.#maxIdle = maxIdle;
    this.#monotonic = monotonic;
  }

  /** The most recently used idle connection to one of these addresses. It is no longer idle. */
  acquire(origin: string, addresses: readonly string[]): Connection | undefined {
    const idle = this.#byOrigin.get(origin) ?? [];
    for (let index = idle.length - 1; index >= 0; index -= 1) {
      const connection = idle[index];
      if (connection?.peer == null || !connection.isOpen() || !addresses.includes(connection.peer)) continue;
      // The list stays when it becomes empty: the connection will most likely come back.
      this.#remove(idle, index, connection);
      return connection;
    }
    return undefined;
  }

  /** Keeps a connection for the next request. */
  release(connection: Connection): void {
    const idle = this.#byOrigin.get(connection.origin);
    if (idle === undefined) this.#byOrigin.set(connection.origin, [connection]);
    else if (idle.push(connection) > 1) this.#spare.set(connection, this.#monotonic());
    this.#idle.add(connection);
    if (this.#idle.size > this.#maxIdle) this.#dropOldest();
  }

  /** Forgets a connection that has ended, idle or not. */
  remove(connection: Connection): void {
    const idle = this.#byOrigin.get(connection.origin) ?? [];
    const index = idle.lastIndexOf(connection);
    if (index !== -1) this.#remove(idle, index, connection);
    if (idle.length === 0) this.#byOrigin.delete(connection.origin);
  }

  #remove(idle: Connection[], index: number, connection: Connection): void {
    idle.splice(index, 1);
    this.#idle.delete(connection);
    this.#spare.delete(connection);
    const [first] = idle;
    if (first !== undefined) this.#spare.delete(first);
  }

  #dropOldest(): void {
    const [[spare, since] = []] = this.#spare;
    const isSpare = since !== undefined && this.#monotonic() - since >= spareAfterMs;
    const [oldest] = isSpare ? [spare] : this.#idle;
    if (oldest === undefined) return;
    this.remove(oldest);
    oldest.destroy();
  }

  destroyAll(): void {
    while (this.#idle.size > 0) this.#dropOldest();
  }
}
