import { createSecureContext, getCACertificates } from 'node:tls';
import { type Destination, UpstreamConnection } from './connection.ts';

/** The connections to one upstream. As many as there are requests under way; the idle ones are kept for the next. */
export interface ConnectionPool {
  /** The connection that was used last, or a new one. */
  acquire(): UpstreamConnection;
  /** A connection that no other request has used. */
  open(): UpstreamConnection;
  /** Keeps a connection over which a whole answer came. */
  release(connection: UpstreamConnection): void;
  close(): void;
}

const maxIdle = 256;

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
      if (connection.isOpen() && idle.length < maxIdle) idle.push(connection);
      else connection.destroy();
    },
    close: () => {
      for (const connection of idle.splice(0)) connection.destroy();
    },
  };
}

/** Made once for all upstreams: reading the root certificates for each handshake would cost more than the handshake. */
export function createUpstreamTrust(ca: string | undefined) {
  const authorities = getCACertificates('default');
  return createSecureContext({ minVersion: 'TLSv1.2', ca: ca === undefined ? authorities : [...authorities, ca] });
}
