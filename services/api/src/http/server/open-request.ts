import { type Clock, newUuid, scrubSecrets, toPublicId } from '@enterprise-api/shared/runtime';
import type { RequestHandler } from 'express';
import { type Exchange, openExchange } from './request-context.ts';
import { securityHeaders } from './security-headers.ts';

const acceptable = /^[A-Za-z0-9._-]{1,128}$/;

export interface OpeningOptions {
  clock: Clock;
  /** Whether the process is on its way out; connections are then not kept. */
  isStopping: () => boolean;
  /** Called once per request, when its answer is out or its client is gone. */
  onDone: (exchange: Exchange, request: { method: string; target: string; status: number; aborted: boolean }) => void;
}

/** The first middleware: every request gets its id, and leaves one trace when it is over. */
export function openRequests({ clock, isStopping, onDone }: OpeningOptions): RequestHandler {
  const onEveryAnswer = securityHeaders();
  return (request, response, next) => {
    const requestId = requestIdOf(request.headers['x-request-id']);
    const exchange: Exchange = {
      requestId,
      startedAtMs: clock.monotonic(),
      headers: { ...onEveryAnswer, 'X-Request-Id': requestId, ...(isStopping() && { Connection: 'close' }) },
      route: 'none',
    };
    openExchange(response, exchange);
    response.once('close', () => {
      const { method, originalUrl: target } = request;
      onDone(exchange, { method, target, status: response.statusCode, aborted: !response.writableFinished });
    });
    next();
  };
}

/** The caller's own id when it is harmless wherever it ends up (a key by mistake is not), else a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  const isHarmless = typeof header === 'string' && acceptable.test(header) && scrubSecrets(header) === header;
  return isHarmless ? header : toPublicId('req', newUuid());
}
