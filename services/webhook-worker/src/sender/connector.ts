import { isIP, isIPv6, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import { type ConnectionOptions, connect, createSecureContext, getCACertificates, type TLSSocket } from 'node:tls';
import type { AddressPolicy } from '@enterprise-api/shared/security';
import { Client } from 'undici';
import { createPacer, type Pacer } from './connect-rate-limiter.ts';
import { connectFailure, destinationBlocked, FailureError } from './failures.ts';
import { InterimFilter } from './informational-filter.ts';

/** Where to connect: a host, and the vetted addresses that it is pinned to. */
export type Route = {
  origin: string;
  host: string;
  port: number;
  addresses: readonly string[];
  /** Whether others may connect before. */
  canWait: boolean;
  /** Asked when its turn has come: whether it still wants a connection. */
  onTurn: () => boolean;
};

export type ConnectorOptions = {
  policy: AddressPolicy;
  /** PEM certificates of authorities trusted in addition to the usual ones. */
  ca?: string | undefined;
  /** The monotonic clock, milliseconds. */
  monotonic: () => number;
  /** Told when a connection has ended, for whatever reason. */
  onClose: (connection: Connection) => void;
};

export type Connector = (route: Route) => Connection;

const maxHeaderSize = 16_384;
const keepAliveMs = 30_000;
const keepAliveMaxMs = 60_000;
/** Off the server's hint, so that we hang up first and no request meets a closing door. */
const keepAliveMarginMs = 1_000;
/** A silent address holds up the next one for this long; one that refuses or is unreachable does not. */
const nextAddressAfterMs = 1_000;

/**
 * Makes connections that cannot lead inside. The addresses were vetted; exactly these are handed to the socket, and the
 * one it connected to is checked again before the first byte, TLS's own included. SNI, `Host` and the certificate check
 * keep the name. No proxy, no HTTP/2, no session resumption (it skips the certificate check).
 */
export function createConnector({ policy, ca, monotonic, onClose }: ConnectorOptions): Connector {
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
      // It has none if it was reset in the same moment.
      if (peer === undefined) socket.destroy(new FailureError(lost));
      else if (!route.addresses.includes(peer) || !policy.permits(peer)) {
        socket.destroy(new FailureError(destinationBlocked));
      }
    });
    return socket;
  };
  const pace = createPacer();
  return (route) => new Connection(route, { open, pace, monotonic, onClose });
}

/** What every connection of a connector shares. */
interface ConnectionParts extends Pick<ConnectorOptions, 'monotonic' | 'onClose'> {
  open: (route: Route) => TLSSocket;
  /** Starts connections one after the other. */
  pace: Pacer;
}

/** One connection with at most one request at a time. It connects with the first, and never a second time. */
export class Connection {
  readonly origin: string;
  readonly client: Client;
  stage: 'waiting' | 'connecting' | 'securing' | 'open' = 'waiting';
  peer: string | null = null;
  /** Milliseconds, once known. */
  connectMs: number | null = null;
  tlsMs: number | null = null;
  #socket: TLSSocket | null = null;
  #filter: InterimFilter | null = null;

  constructor(route: Route, { open, pace, monotonic, onClose }: ConnectionParts) {
    this.origin = route.origin;
    this.client = new Client(route.origin, {
      connect: (_options, callback) => {
        // A second connection would go out without the caller's knowledge: it decides on that.
        if (this.#socket !== null) return callback(new FailureError(lost), null);
        pace(() => {
          // Its request may have ended meanwhile; nobody would end the socket then.
          const isWanted = !this.client.destroyed && route.onTurn();
          if (isWanted) this.#connect(open(route), monotonic, callback);
          else callback(new FailureError(lost), null);
          return isWanted;
        }, route.canWait);
      },
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
      onClose(this);
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

  destroy(): void {
    this.#socket?.destroy();
    if (!this.client.destroyed) void this.client.destroy();
  }

  #connect(socket: TLSSocket, monotonic: () => number, callback: ConnectCallback): void {
    const startedAt = monotonic();
    let connectedAt = startedAt;
    this.#socket = socket;
    this.stage = 'connecting';
    const fail = (error: Error) => {
      socket.off('error', fail).off('close', failLost);
      callback(new FailureError(connectFailure(error, this.stage !== 'connecting')), null);
    };
    const failLost = () => fail(new FailureError(lost));
    socket
      .on('error', fail)
      .on('close', failLost)
      .once('connect', () => {
        this.stage = 'securing';
        connectedAt = monotonic();
        this.connectMs = connectedAt - startedAt;
      })
      .once('secureConnect', () => {
        this.stage = 'open';
        this.tlsMs = monotonic() - connectedAt;
        this.peer = socket.remoteAddress ?? null;
        this.#filter = new InterimFilter(socket);
        socket.off('error', fail).off('close', failLost);
        callback(null, socket);
      })
      // An error nobody listens to any more, after `fail`, would end the process.
      .on('error', () => {});
  }
}

type ConnectCallback = (...result: [null, TLSSocket] | [Error, null]) => void;

const lost = { code: 'connection_reset', message: 'The connection to the receiver was lost.' } as const;

/** A lookup that knows its answer. It is not called for IP literals, which is why those are vetted before. */
function pinned(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_host, options, callback) => {
    process.nextTick(() => {
      if (options.all) callback(null, answers);
      else callback(null, answers[0]?.address ?? '', answers[0]?.family);
    });
  };
}
