import { isIP, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import {
  type ConnectionOptions,
  connect,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import type { Attempt } from '@enterprise-api/shared/contracts';
import { InformationalFilter } from '@enterprise-api/shared/runtime';
import type { AddressPolicy } from '@enterprise-api/shared/security';
import { Client } from 'undici';
import type { Target } from './destination.ts';
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

/** A host and the checked addresses to which a connection may be made. */
export type Route = Target & { addresses: readonly string[] };

export type ConnectionParts = {
  policy: AddressPolicy;
  secureContext: SecureContext;
  outages: NetworkOutages;
  /** Called when a socket has connected to an address that deliveries may not reach. */
  onBlocked: () => void;
  onClose: (connection: Connection) => void;
};

/** Creates one context for all connections: reading the root certificates again would cost more than a handshake. */
export function createTrust(ca: string | undefined): SecureContext {
  const usual = getCACertificates('default');
  return createSecureContext({ minVersion: 'TLSv1.2', ca: ca === undefined ? usual : [...usual, ca] });
}

/** An idle connection closes after this time, or 2 s before the server would close it. */
const keepAliveMs = 30_000;
/** Try the next address after this long without an answer, or at once if an address refuses or is unreachable. */
const nextAddressAfterMs = 1_000;
const reused = { dns_ms: null, connect_ms: null, tls_ms: null };

/**
 * One connection with at most one request at a time. The first request makes the connection. An ended connection
 * never connects again.
 *
 * The connection cannot lead into our own network. The socket gets only checked addresses, and the connected address is
 * checked again before the first byte, even of TLS. SNI, `Host` and the certificate check use the host name. There is
 * no proxy, no HTTP/2, and no session resumption, because resumption skips the certificate check.
 */
export class Connection {
  readonly origin: string;
  readonly client: Client;
  stage: 'connecting' | 'securing' | 'open' = 'connecting';
  setup: Omit<Attempt['timings'], 'first_byte_ms'>;
  /** The permitted address to which the socket connected. Kept after the connection has ended. */
  address: string | null = null;
  readonly #route: Route;
  readonly #parts: ConnectionParts;
  #socket: TLSSocket | null = null;
  #filter: InformationalFilter | null = null;
  /** undici reports the last error. The first one says more: after a TLS alert, for example, writing fails too. */
  #firstError: Error | null = null;

  constructor(route: Route, dnsMs: number, parts: ConnectionParts) {
    this.origin = route.origin;
    this.setup = { ...reused, dns_ms: dnsMs };
    this.#route = route;
    this.#parts = parts;
    this.client = new Client(route.origin, {
      connect: (_options, callback) => this.#connect(callback),
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      // Disable undici's timeouts, because the exchange has one deadline over everything.
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

  get peer(): string | undefined {
    return this.#socket?.remoteAddress;
  }

  /** Whether every written byte has left this process. */
  isDrained(): boolean {
    return this.#socket?.writableLength === 0;
  }

  begin(): void {
    this.#filter?.arm();
  }

  /** The next request reuses the connection, so its timings have no connecting stages. */
  becomeIdle(): void {
    this.setup = reused;
  }

  /** Whether any byte of a response to the current request has arrived, even of an informational response. */
  get sawBytes(): boolean {
    return this.#filter?.sawBytes === true;
  }

  /** Explains why this connection ended, given the error from undici. */
  failureOf(reported: Error): Failure {
    return exchangeFailure(reported instanceof FailureError ? reported : (this.#firstError ?? reported));
  }

  destroy(): void {
    this.#socket?.destroy();
    if (!this.client.destroyed) void this.client.destroy();
  }

  #connect(callback: ConnectCallback): void {
    // undici would connect again for a waiting request. Refuse, because only the sender may decide to connect again.
    if (this.#socket !== null || this.client.destroyed) return callback(new FailureError(connectionLost), null);
    const startedAt = performance.now();
    let connectedAt = startedAt;
    const socket = connect(this.#socketOptions()).setNoDelay(true);
    this.#socket = socket;
    socket
      // Runs before TLS's own listener, because that listener writes the first bytes of the handshake.
      .prependOnceListener('connect', () => {
        const refusal = this.#refusalOf(socket.remoteAddress);
        if (refusal !== null) return socket.destroy(new FailureError(refusal));
        this.stage = 'securing';
        this.address = socket.remoteAddress ?? null;
        connectedAt = performance.now();
        this.setup.connect_ms = Math.round(connectedAt - startedAt);
      })
      .once('secureConnect', () => {
        this.stage = 'open';
        this.setup.tls_ms = Math.round(performance.now() - connectedAt);
        this.#filter = new InformationalFilter(socket, () => new FailureError(tooManyInformational));
        callback(null, socket);
      })
      // Stays registered, because an error without a listener would end the process.
      .on('error', (error) => {
        this.#firstError ??= this.stage === 'open' ? error : new FailureError(this.#failureToConnect(error, socket));
      })
      .once('close', () => {
        if (this.stage !== 'open') callback(this.#firstError ?? new FailureError(connectionLost), null);
      });
  }

  #socketOptions(): ConnectionOptions & TcpNetConnectOpts {
    const { host, port, addresses } = this.#route;
    return {
      host,
      port,
      servername: isIP(host) === 0 ? host : '',
      lookup: pinned(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: nextAddressAfterMs,
      secureContext: this.#parts.secureContext,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true,
    };
  }

  /** @param peer undefined if the socket was reset at once */
  #refusalOf(peer: string | undefined): Failure | null {
    if (peer === undefined) return connectionLost;
    const { policy, outages, onBlocked } = this.#parts;
    recordOf(outages, peer).succeeded(this.origin);
    if (this.#route.addresses.includes(peer) && policy.permits(peer)) return null;
    onBlocked();
    return destinationBlocked;
  }

  #failureToConnect(error: Error, socket: TLSSocket): Failure {
    if (this.stage === 'securing') return tlsFailure(error, Object.keys(socket.getPeerCertificate() ?? {}).length > 0);
    return connectFailure(error, isNetworkDown(error, this.#route, this.#parts.outages));
  }
}

type ConnectCallback = (...result: [null, TLSSocket] | [Error, null]) => void;

/** Answers the socket's look-ups with the checked addresses. Node.js looks up no IP literals. */
function pinned(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, _options, callback) => process.nextTick(callback, null, answers);
}

/** The outage record of each address family. */
type NetworkOutages = Map<number, OutageRecord>;

export function recordOf(outages: NetworkOutages, address: string): OutageRecord {
  const family = isIP(address);
  const record = outages.get(family) ?? new OutageRecord();
  outages.set(family, record);
  return record;
}

export function isNetworkDown(error: unknown, { addresses, origin }: Route, outages: NetworkOutages): boolean {
  const records = new Set(isWithoutRoute(error) ? addresses.map((address) => recordOf(outages, address)) : []);
  const areDown = [...records].map((record) => record.failed(origin));
  return areDown.length > 0 && !areDown.includes(false);
}

/**
 * Idle connections, by origin. Reuses a connection only while its peer is among the host's current addresses. So
 * deliveries follow a host that moves. Above the limit, closes the connection that has been idle longest.
 */
export class ConnectionPool<Kept extends Pick<Connection, 'origin' | 'peer' | 'isOpen' | 'destroy'>> {
  readonly #maxIdle: number;
  readonly #byOrigin = new Map<string, Set<Kept>>();
  /** The connection that has been idle longest is first. */
  readonly #idle = new Set<Kept>();

  constructor(maxIdle: number) {
    this.#maxIdle = maxIdle;
  }

  /** Takes the most recently used idle connection to one of these addresses out of the pool. */
  acquire(origin: string, addresses: readonly string[]): Kept | undefined {
    const isUsable = (each: Kept) => each.isOpen() && each.peer !== undefined && addresses.includes(each.peer);
    const connection = [...(this.#byOrigin.get(origin) ?? [])].findLast(isUsable);
    if (connection !== undefined) this.remove(connection);
    return connection;
  }

  release(connection: Kept): void {
    this.#byOrigin.set(connection.origin, (this.#byOrigin.get(connection.origin) ?? new Set()).add(connection));
    const [oldest] = this.#idle.add(connection);
    if (oldest === undefined || this.#idle.size <= this.#maxIdle) return;
    this.remove(oldest);
    oldest.destroy();
  }

  remove(connection: Kept): void {
    const others = this.#byOrigin.get(connection.origin);
    this.#idle.delete(connection);
    others?.delete(connection);
    if (others?.size === 0) this.#byOrigin.delete(connection.origin);
  }

  destroyAll(): void {
    for (const connection of this.#idle) connection.destroy();
  }
}

/**
 * Spreads new connections over iterations of the event loop: each iteration starts a tenth of the waiting connections.
 * If a thousand started at once, their handshakes would complete together and delay all responses behind them.
 */
export function createConnectPacing(): () => Promise<void> {
  const waiting: (() => void)[] = [];
  const beginSome = () => {
    for (const begin of waiting.splice(0, Math.max(2, Math.ceil(waiting.length / 10)))) begin();
    if (waiting.length > 0) setImmediate(beginSome);
  };
  return () => new Promise((resolve) => waiting.push(resolve) === 1 && setImmediate(beginSome));
}
