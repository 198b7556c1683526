import type { Socket } from 'node:net';

const sockets = new WeakSet<Socket>();

/**
 * Exempts the request that comes over a connection from the listener's limit for a whole request, because whoever reads
 * its body limits the time in another way. Holds until `endOwnTimeLimits`.
 */
export function beginOwnTimeLimits(socket: Socket): void {
  sockets.add(socket);
}

export function endOwnTimeLimits(socket: Socket): void {
  sockets.delete(socket);
}

export function hasOwnTimeLimits(socket: Socket): boolean {
  return sockets.has(socket);
}
