import { isIP, isIPv6, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import { type ConnectionOptions, connect, createSecureContext, getCACertificates, type TLSSocket } from 'node:tls';
import type { AddressPolicy } from '@enterprise-api/shared/security';
import { Connection, type Route } from './connection.ts';
import { connectionLost, destinationBlocked, FailureError } from './failures.ts';
import { OutageRecord } from './outage-record.ts';

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
