import { createLogger, systemClock } from '@enterprise-api/shared/runtime';
import type { RequestHandler } from 'express';
import { attachRequestContext } from '../http/server/request-context.ts';

/** Attaches a request context whose report nothing reads. */
export function attachTestContext(listener: 'public' | 'internal'): RequestHandler {
  const nowhere = { inc: () => undefined, observe: () => undefined, count: () => undefined };
  return attachRequestContext({
    log: createLogger('test', 'silent'),
    listener,
    clock: systemClock,
    life: { stopping: false },
    continuesTrace: () => false,
    tracing: undefined,
    metrics: { requests: nowhere, durations: nowhere, errors: nowhere },
    usage: nowhere,
  });
}
