import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Problem, problem, problemBody } from '../problem.ts';
import { closeLingering, type LingerLimits } from './lingering-close.ts';
import { requestIdOf } from './request-context.ts';

/** Bytes that Node could not parse as a request. The answer to them has an id, which the log repeats. */
export interface MalformedRequest {
  requestId: string;
  status: number;
  /** Node's code for what is wrong. */
  reason: string | undefined;
}

/**
 * A client that was too slow gets little time to read its answer. Merely to end our side would be wrong: a request that is
 * completed after its 408 would be served, and a client that never ends its side would keep the connection.
 */
const afterTimeout: LingerLimits = { ms: 1_000, bytes: 1024 * 1024 };

/**
 * Answers what Node's parser refuses. Such bytes never reach the application, so the answer is written by hand; the
 * connection is closed behind it.
 *
 * @returns null when the client is gone and nothing was answered
 */
export function answerMalformedRequest(error: NodeJS.ErrnoException, socket: Socket): MalformedRequest | null {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return null;
  }
  const { status, found } = describe(error.code);
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
  closeLingering(socket, status === 408 ? afterTimeout : undefined);
  return { requestId, status, reason: error.code };
}

function describe(code: string | undefined): { status: number; found: Problem } {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, found: problem('request_timeout') };
  if (code === 'HPE_HEADER_OVERFLOW') {
    return { status: 431, found: problem('malformed_request', { message: 'The request headers are too large.' }) };
  }
  return { status: 400, found: problem('malformed_request') };
}
