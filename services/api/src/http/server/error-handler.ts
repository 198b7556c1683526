import type { Logger } from '@enterprise-api/shared/runtime';
import { traceIdOf } from '@enterprise-api/shared/tracing';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { DatabaseUnavailableError } from '../../core/database-health.ts';
import { ClientGoneError } from '../parsing/read-input.ts';
import { problem } from '../problem.ts';
import { sendProblem } from '../routing/respond.ts';
import { HostHeaderError, requestContextOf } from './request-context.ts';

export const answerNotFound: RequestHandler = (_request, response) => sendProblem(response, problem('not_found'));

/** Turns whatever was thrown into one of our error codes. Its text goes to the log and never to the client. */
export function createErrorHandler(log: Logger): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    const { requestId: request_id, traceparent } = requestContextOf(response);
    const ids = { request_id, ...(traceparent !== undefined && { trace_id: traceIdOf(traceparent) }) };
    if (error instanceof ClientGoneError) {
      response.destroy();
    } else if (error instanceof HostHeaderError) {
      sendProblem(response, problem('malformed_request', { message: 'The request needs exactly one Host header.' }));
    } else if (response.headersSent) {
      log.error({ err: error, ...ids }, 'failed after the answer had begun');
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
 * SQLSTATEs that are not about the request: 08 connection, 53 resources, 57 operator intervention (a canceled statement
 * included), a lock timeout, a read-only server (during a failover), a deadlock.
 */
const sqlStates = /^(?:(?:08|53|57)...|55P03|25006|40P01)$/;
/** Errors of the pool and the driver that have no code. "Client was closed" is a connection that ended between two statements. */
const driverTexts =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client (?:has encountered|was closed))/;

function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailableError) return true;
  // By its fields: an error of a socket may belong to another realm (Jest), where `instanceof Error` is false.
  const { code, message, errors } = (error ?? {}) as { code?: unknown; message?: unknown; errors?: unknown };
  if (typeof code === 'string' && (socketCodes.has(code) || sqlStates.test(code))) return true;
  if (typeof message === 'string' && driverTexts.test(message)) return true;
  return Array.isArray(errors) && errors.length > 0 && errors.every(isDatabaseUnavailable);
}
