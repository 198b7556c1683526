import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

const requests = new WeakMap<Socket, IncomingMessage>();

/**
 * Exempts a request from the listener's limit for a whole request, because whoever reads its body limits the time in
 * another way. A request that follows it on its connection is not exempt, even if it comes before the answer.
 */
export function beginOwnTimeLimits(request: IncomingMessage): void {
  requests.set(request.socket, request);
}

export function endOwnTimeLimits(request: IncomingMessage): void {
  requests.delete(request.socket);
}

/** Whether the request that a connection is receiving is exempt. */
export function hasOwnTimeLimits(socket: Socket): boolean {
  return requests.get(socket)?.complete === false;
}
