import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const latest = new WeakMap<Socket, ServerResponse>();

/** Notes the answer to the request that a connection has received last. */
export function noteAnswer(response: ServerResponse): void {
  latest.set(response.req.socket, response);
}

/**
 * Whether what is written to a connection now stands behind the answers to all requests before, and is the answer to what
 * the client sent last. Where it is not, the client would take it for a part of another answer, or for another answer.
 */
export function isNextAnswer(socket: Socket): boolean {
  const response = latest.get(socket);
  if (response === undefined || response.writableFinished) return true;
  // Node.js gives the connection to one answer after the other: this one has not begun, and others are before it.
  if (response.socket === null) return false;
  const isInBody = !response.req.complete;
  return response.writableEnded || (isInBody && !response.headersSent);
}
