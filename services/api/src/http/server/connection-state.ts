import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const latestAnswers = new WeakMap<Socket, ServerResponse>();

/** Notes the answer to the request that a connection has received last. */
export function noteAnswer(request: IncomingMessage, response: ServerResponse): void {
  latestAnswers.set(request.socket, response);
}

/**
 * Whether what is written to a connection now stands behind the answers to all requests before, and is the answer to what
 * the client sent last. Where it is not, the client would take it for a part of another answer, or for another answer.
 */
export function isNextAnswer(socket: Socket): boolean {
  const response = latestAnswers.get(socket);
  if (response === undefined || response.writableFinished) return true;
  // Node.js gives the connection to one answer after the other: this one has not begun, and others are before it.
  if (response.socket === null) return false;
  const isInBody = !response.req.complete;
  return response.writableEnded || (isInBody && !response.headersSent);
}

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
