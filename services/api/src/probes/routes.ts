import type { Registry } from '@enterprise-api/shared/runtime';
import { type RequestHandler, Router } from 'express';
import { exchangeOf } from '../http/exchange.ts';
import { sendJson } from '../http/respond.ts';

export interface ProbeOptions {
  /** Ready means: the database answers, and the process is not on its way out. Redis may be away. */
  isReady: () => Promise<boolean>;
}

/** `/healthz`: the process lives. `/readyz`: send it requests. */
export function probeRoutes({ isReady }: ProbeOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/healthz', (_request, response) => {
    exchangeOf(response).route = '/healthz';
    sendJson(response, 200, { status: 'ok' });
  });
  router.get('/readyz', async (_request, response) => {
    exchangeOf(response).route = '/readyz';
    const ready = await isReady();
    if (!ready) response.setHeader('Retry-After', '1');
    sendJson(response, ready ? 200 : 503, { status: ready ? 'ready' : 'not_ready' });
  });
  return router;
}

export function metricsRoute(registry: Registry): RequestHandler {
  return async (_request, response) => {
    exchangeOf(response).route = '/metrics';
    const text = await registry.metrics();
    response.setHeader('Content-Type', registry.contentType);
    response.end(text);
  };
}
