import type { Registry } from '@enterprise-api/shared/runtime';
import { type RequestHandler, type Response, Router } from 'express';
import { problem } from '../problem.ts';
import { sendAnswer, sendJson, sendProblem } from '../routing/respond.ts';
import { requestContextOf } from './request-context.ts';

/** Serves GET and HEAD of one path without a key, outside the route table. Other methods get 405. */
export function fixedRoute(path: string, handler: RequestHandler): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.all(path, (_request, response, next) => {
    requestContextOf(response).route = path;
    next();
  });
  router.get(path, handler);
  router.all(path, (_request, response) => refuseMethod(response));
  return router;
}

export function refuseMethod(response: Response): void {
  sendProblem(response, problem('method_not_allowed', { headers: { Allow: 'GET, HEAD' } }));
}

/**
 * `/healthz`: the process is alive. `/readyz`: the process can serve requests.
 *
 * @param isReady true if the database answers and the process is not stopping; Redis is not needed
 */
export function probeRoutes(isReady: () => Promise<boolean>): Router {
  const health = fixedRoute('/healthz', (_request, response) => sendJson(response, { status: 'ok' }));
  const readiness = fixedRoute('/readyz', async (_request, response) => {
    if (await isReady()) sendJson(response, { status: 'ready' });
    else sendProblem(response, problem('service_unavailable'));
  });
  return Router().use(health, readiness);
}

export function metricsRoute(registry: Registry): RequestHandler {
  return fixedRoute('/metrics', async (_request, response) => {
    const body = await registry.metrics();
    sendAnswer(response, { headers: { 'Content-Type': registry.contentType }, body });
  });
}
