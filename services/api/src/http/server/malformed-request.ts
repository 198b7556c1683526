import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { errorCatalogue } from '@enterprise-api/shared/contracts';
import type { Logger } from '@enterprise-api/shared/runtime';
import { problem } from '../problem.ts';
import { problemBody } from '../problem-answer.ts';
import { closeLingering } from './lingering-close.ts';
import { hasOwnTimeLimits } from './own-time-limits.ts';
import { latestAnswers, requestIdOf } from './request-context.ts';

/** Closes soon after a 408, because Node.js would serve the request if the client completed it later. */
const closeAfterTimeoutMs = 1_000;

/**
 * Answers requests that Node's parser refuses. They never reach the application, so this function writes the answer by
 * hand and closes the connection.
 */
export function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket, log: Logger): void {
  const { code: reason } = error;
  const isTooSlow = reason === 'ERR_HTTP_REQUEST_TIMEOUT';
  // Node.js reports a slow request once. Unless we close the socket, Node's parser continues with the request.
  if (isTooSlow && hasOwnTimeLimits(socket)) return;
  // Reset the connection: in HTTP/1.0 a plain end would complete a half-sent answer.
  if (!isNextAnswer(socket)) return void socket.resetAndDestroy();
  if (reason === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const isTooLarge = reason === 'HPE_HEADER_OVERFLOW';
  const found = isTooSlow
    ? problem('request_timeout')
    : problem('malformed_request', isTooLarge ? { message: 'The request headers are too large.' } : {});
  const status = isTooLarge ? 431 : errorCatalogue[found.problem].status;
  const requestId = requestIdOf(undefined);
  const body = JSON.stringify(problemBody(found, requestId));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Cache-Control: no-store',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  closeLingering(socket, isTooSlow ? closeAfterTimeoutMs : undefined);
  log.info({ request_id: requestId, status, reason }, 'malformed HTTP request');
}

/**
 * Whether bytes written to the connection now would answer the client's latest request. If not, the client would take
 * these bytes for part of an earlier answer.
 */
function isNextAnswer(socket: Socket): boolean {
  const response = latestAnswers.get(socket);
  if (response === undefined || response.writableFinished) return true;
  // Node.js assigns the connection to one answer at a time. The latest answer is still waiting for earlier ones to end.
  if (response.socket === null) return false;
  const isInBody = !response.req.complete;
  return response.writableEnded || (isInBody && !response.headersSent);
}
