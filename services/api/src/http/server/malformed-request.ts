import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { errorCatalogue } from '@enterprise-api/shared/contracts';
import type { Logger } from '@enterprise-api/shared/runtime';
import { problem, problemBody } from '../problem.ts';
import { hasOwnTimeLimits, isNextAnswer } from './connection-state.ts';
import { closeLingering, type LingerLimits } from './lingering-close.ts';
import { requestIdOf } from './request-context.ts';

/**
 * A client that was too slow gets little time to read its answer. Merely to end our side would be wrong: a request that is
 * completed after its 408 would be served, and a client that never ends its side would keep the connection.
 */
const afterTimeout: LingerLimits = { ms: 1_000, bytes: 1_024 * 1_024 };

/**
 * Answers what Node's parser refuses. Such bytes never reach the application, so the answer is written by hand; the
 * connection is closed behind it.
 */
export function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket, log: Logger): void {
  const { code: reason } = error;
  const isTooSlow = reason === 'ERR_HTTP_REQUEST_TIMEOUT';
  // Node.js reports a slow request once. Its parser goes on, as if nothing had happened, unless the socket is closed.
  if (isTooSlow && hasOwnTimeLimits(socket)) return;
  // A reset, because in HTTP/1.0 a plain end would make the half of an answer a whole one.
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
  closeLingering(socket, isTooSlow ? afterTimeout : undefined);
  log.info({ request_id: requestId, status, reason }, 'malformed HTTP request');
}
