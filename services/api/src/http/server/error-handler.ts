import type { Logger } from '@enterprise-api/shared/runtime';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { DatabaseUnavailableError } from '../../core/database-health.ts';
import { problem } from '../../core/problem.ts';
import { ClientGoneError } from '../parsing/read-body.ts';
import { sendProblem } from '../routing/respond.ts';
import { exchangeOf } from './request-context.ts';

export const answerNotFound: RequestHandler = (_request, response) => sendProblem(response, problem('not_found'));

/** The last resort: whatever was thrown becomes one of our codes, and its text goes to the log alone. */
export function createErrorHandler(log: Logger): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    const request_id = exchangeOf(response).requestId;
    if (error instanceof ClientGoneError) {
      response.destroy();
    } else if (response.headersSent) {
      log.error({ err: error, request_id }, 'failed after the answer had begun');
      response.destroy();
    } else if (isDatabaseAway(error)) {
      log.warn({ err: error, request_id }, 'database unavailable');
      sendProblem(response, problem('service_unavailable'));
    } else {
      log.error({ err: error, request_id }, 'request failed');
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
 * SQLSTATEs that say nothing about the request: 08 connection, 53 resources, 57 operator intervention (a cancelled
 * statement included), a lock not to be had in time, a server that only reads (a failover), a deadlock.
 */
const sqlStates = /^(?:08|53|57)|^(?:55P03|25006|40P01)$/;
/** What the pool and the driver say without any code. */
const driverTexts = /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered)/;

function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DatabaseUnavailableError) return true;
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (socketCodes.has(code) || (code.length === 5 && sqlStates.test(code)) || driverTexts.test(error.message))
    return true;
  return error instanceof AggregateError && error.errors.length > 0 && error.errors.every(isDatabaseAway);
}
