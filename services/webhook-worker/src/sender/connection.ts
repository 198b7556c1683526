import { isIPv6 } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { InformationalFilter } from '@enterprise-api/shared/runtime';
import { Client } from 'undici';
import {
  connectFailure,
  connectionLost,
  exchangeFailure,
  type Failure,
  FailureError,
  isWithoutRoute,
  tlsFailure,
  tooManyInformational,
} from './failures.ts';
import type { OutageRecord } from './outage-record.ts';

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
