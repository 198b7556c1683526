import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const latestAnswers = new WeakMap<Socket, ServerResponse>();

export function noteAnswer(request: IncomingMessage, response: ServerResponse): void {
  latestAnswers.set(request.socket, response);
}

/**
 * Whether bytes written to the connection now would answer the client's latest request. Otherwise the client would take
 * them for part of an earlier answer.
 */
export function isNextAnswer(socket: Socket): boolean {
  const response = latestAnswers.get(socket);
  if (response === undefined || response.writableFinished) return true;
  // Node.js assigns the connection to one answer at a time. The latest answer is still waiting for earlier ones to end.
  if (response.socket === null) return false;
  const isInBody = !response.req.complete;
  return response.writableEnded || (isInBody && !response.headersSent);
}
