import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

const requests = new WeakMap<Socket, IncomingMessage>();

/**
 * Exempts a request from the listener's limit for whole requests, because the reader of its body enforces its own
 * limits. A later request on the connection is not exempt, even if it arrives before the answer.
 */
export function beginOwnTimeLimits(request: IncomingMessage): void {
  requests.set(request.socket, request);
}

export function endOwnTimeLimits(request: IncomingMessage): void {
  requests.delete(request.socket);
}

export function hasOwnTimeLimits(socket: Socket): boolean {
  return requests.get(socket)?.complete === false;
}
