import { type Clock, newUuid, scrubSecrets, toPublicId } from '@enterprise-api/shared/runtime';
import type { RequestHandler } from 'express';
import type { FinishedRequest } from './access-log.ts';
import { type RequestContext, setRequestContext } from './request-context.ts';
import { securityHeaders } from './security-headers.ts';

const acceptableId = /^[A-Za-z0-9._-]{1,128}$/;

export interface RequestContextOptions {
  clock: Clock;
  /** Whether the process is stopping: its connections are then closed after the answer. */
  isStopping: () => boolean;
  /** Called once per request, when its answer was sent or its client has hung up. */
  onFinished: (context: RequestContext, request: FinishedRequest) => void;
}

/** The first middleware: gives every request its id and its context, and reports it when it is over. */
export function attachRequestContext({ clock, isStopping, onFinished }: RequestContextOptions): RequestHandler {
  const onEveryAnswer = securityHeaders();
  return (request, response, next) => {
    const requestId = requestIdOf(request.headers['x-request-id']);
    const context: RequestContext = {
      requestId,
      startedAtMs: clock.monotonic(),
      headers: { ...onEveryAnswer, 'X-Request-Id': requestId, ...(isStopping() && { Connection: 'close' }) },
      route: 'none',
    };
    setRequestContext(response, context);
    response.once('close', () => {
      const { method, originalUrl: target } = request;
      onFinished(context, { method, target, status: response.statusCode, aborted: !response.writableFinished });
    });
    next();
  };
}

/** The caller's own id if it is safe to repeat in headers and logs, else a new one. An API key is not safe. */
export function requestIdOf(header: string | string[] | undefined): string {
  const isSafe = typeof header === 'string' && acceptableId.test(header) && scrubSecrets(header) === header;
  return isSafe ? header : toPublicId('req', newUuid());
}
