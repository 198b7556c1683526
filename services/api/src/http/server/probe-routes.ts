import type { Registry } from '@enterprise-api/shared/runtime';
import { type RequestHandler, Router } from 'express';
import { problem } from '../../core/problem.ts';
import { sendAnswer, sendJson, sendProblem } from '../routing/respond.ts';
import { exchangeOf } from './request-context.ts';

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
    if (ready) sendJson(response, 200, { status: 'ready' });
    else sendProblem(response, problem('service_unavailable'));
  });
  return router;
}

export function metricsRoute(registry: Registry): RequestHandler {
  return async (_request, response) => {
    exchangeOf(response).route = '/metrics';
    const body = await registry.metrics();
    sendAnswer(response, { status: 200, headers: { 'Content-Type': registry.contentType }, body });
  };
}
