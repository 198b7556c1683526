import type { Server, Socket } from 'node:net';
import { canonicalAddress, cidrContains } from '@enterprise-api/shared/security';
import { addressBucket } from './client-address.ts';

/**
 * Closes connections beyond a limit, in all and per peer, before reading from them: every open connection costs memory
 * and a file descriptor. A trusted proxy carries many clients, so only the total limit applies to it.
 */
export function limitConnections(
  server: Server,
  limits: { connections: number; connectionsPerPeer: number },
  trustedProxies: readonly string[],
): void {
  const open = new Map<string, number>();
  server.maxConnections = limits.connections;
  server.on('connection', (socket: Socket) => {
    const address = canonicalAddress(socket.remoteAddress ?? '');
    // A connection that was reset at once has no address.
    if (address === null) return void socket.destroy();
    if (trustedProxies.some((cidr) => cidrContains(cidr, address))) return;
    const peer = addressBucket(address);
    const count = (open.get(peer) ?? 0) + 1;
    open.set(peer, count);
    socket.once('close', () => {
      const left = (open.get(peer) ?? 1) - 1;
      if (left === 0) open.delete(peer);
      else open.set(peer, left);
    });
    if (count > limits.connectionsPerPeer) socket.destroy();
  });
}
