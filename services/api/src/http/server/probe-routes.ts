import type { Registry } from '@enterprise-api/shared/runtime';
import { type RequestHandler, Router } from 'express';
import { problem } from '../../core/problem.ts';
import { sendAnswer, sendJson, sendProblem } from '../routing/respond.ts';
import { requestContextOf } from './request-context.ts';

export interface ProbeOptions {
  /** Whether the database answers and the process is not stopping. Redis is not needed. */
  isReady: () => Promise<boolean>;
}

/** `/healthz`: the process is alive. `/readyz`: it can serve requests. */
export function probeRoutes({ isReady }: ProbeOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/healthz', (_request, response) => {
    requestContextOf(response).route = '/healthz';
    sendJson(response, 200, { status: 'ok' });
  });
  router.get('/readyz', async (_request, response) => {
    requestContextOf(response).route = '/readyz';
    const ready = await isReady();
    if (ready) sendJson(response, 200, { status: 'ready' });
    else sendProblem(response, problem('service_unavailable'));
  });
  return router;
}

export function metricsRoute(registry: Registry): RequestHandler {
  return async (_request, response) => {
    requestContextOf(response).route = '/metrics';
    const body = await registry.metrics();
    sendAnswer(response, { status: 200, headers: { 'Content-Type': registry.contentType }, body });
  };
}
