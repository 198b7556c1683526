import type { Registry } from '@enterprise-api/shared/runtime';
import { type RequestHandler, Router } from 'express';
import { problem } from '../problem.ts';
import { sendAnswer, sendJson, sendProblem } from '../routing/respond.ts';
import { fixedRoute } from './fixed-route.ts';

export interface ProbeOptions {
  /** Whether the database answers and the process is not stopping. Redis is not needed. */
  isReady: () => Promise<boolean>;
}

/** `/healthz`: the process is alive. `/readyz`: it can serve requests. */
export function probeRoutes({ isReady }: ProbeOptions): Router {
  const health = fixedRoute('/healthz', (_request, response) => sendJson(response, 200, { status: 'ok' }));
  const readiness = fixedRoute('/readyz', async (_request, response) => {
    const ready = await isReady();
    if (ready) sendJson(response, 200, { status: 'ready' });
    else sendProblem(response, problem('service_unavailable'));
  });
  return Router().use(health, readiness);
}

export function metricsRoute(registry: Registry): RequestHandler {
  return fixedRoute('/metrics', async (_request, response) => {
    const body = await registry.metrics();
    sendAnswer(response, { status: 200, headers: { 'Content-Type': registry.contentType }, body });
  });
}
