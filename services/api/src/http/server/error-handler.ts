import type { Logger } from '@enterprise-api/shared/runtime';
import { traceIdOf } from '@enterprise-api/shared/tracing';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { DatabaseUnavailableError } from '../../core/database-health.ts';
import { ClientGoneError } from '../parsing/read-input.ts';
import { problem } from '../problem.ts';
import { sendProblem } from '../routing/respond.ts';
import { HostHeaderError, requestContextOf } from './request-context.ts';

export const answerNotFound: RequestHandler = (_request, response) => sendProblem(response, problem('not_found'));

/** Maps a thrown error to an error code. The error's text is logged and never reaches the client. */
export function createErrorHandler(log: Logger): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    const { requestId: request_id, traceparent } = requestContextOf(response);
    const ids = { request_id, ...(traceparent !== undefined && { trace_id: traceIdOf(traceparent) }) };
    if (error instanceof ClientGoneError) {
      response.destroy();
    } else if (error instanceof HostHeaderError) {
      sendProblem(response, problem('malformed_request', { message: 'The request needs exactly one Host header.' }));
    } else if (response.headersSent) {
      log.error({ err: error, ...ids }, 'request failed after its answer had begun');
      response.destroy();
    } else if (isDatabaseUnavailable(error)) {
      log.warn({ err: error, ...ids }, 'database unavailable');
      sendProblem(response, problem('service_unavailable'));
    } else {
      log.error({ err: error, ...ids }, 'request failed');
      sendProblem(response, problem('internal_error'));
    }
  };
}

const socketCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);
/**
 * SQLSTATEs that do not concern the request: 08 connection, 53 resources, 57 operator intervention (including a
 * canceled statement), 55P03 lock timeout, 25006 read-only server (during a failover), 40P01 deadlock.
 */
const sqlStates = /^(?:(?:08|53|57)...|55P03|25006|40P01)$/;
/**
 * Pool and driver errors that have no code. "Client was closed" means that a connection ended between two statements.
 */
const driverTexts =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client (?:has encountered|was closed))/;

function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailableError) return true;
  // Checks fields instead of the class. A socket error may belong to another realm (Jest), where `instanceof Error` is
  // false.
  const { code, message, errors } = (error ?? {}) as { code?: unknown; message?: unknown; errors?: unknown };
  if (typeof code === 'string' && (socketCodes.has(code) || sqlStates.test(code))) return true;
  if (typeof message === 'string' && driverTexts.test(message)) return true;
  return Array.isArray(errors) && errors.length > 0 && errors.every(isDatabaseUnavailable);
}
