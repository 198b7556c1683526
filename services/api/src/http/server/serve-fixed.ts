import type { Registry } from '@enterprise-api/shared/runtime';
import type { Express, RequestHandler, Response } from 'express';
import { problem } from '../problem.ts';
import { sendAnswer, sendJson, sendProblem } from '../routing/respond.ts';
import { requestContextOf } from './request-context.ts';

/** Serves GET and HEAD of one path without a key, outside the route table. Other methods get 405. */
export function serveFixed(app: Express, path: string, handler: RequestHandler): void {
  const setRoute: RequestHandler = (_request, response, next) => {
    requestContextOf(response).route = path;
    next();
  };
  app
    .route(path)
    .all(setRoute)
    .get(handler)
    .all((_request, response) => refuseMethod(response));
}

export function refuseMethod(response: Response): void {
  sendProblem(response, problem('method_not_allowed', { headers: { Allow: 'GET, HEAD' } }));
}

/**
 * `/healthz`: the process is alive. `/readyz`: the process can serve requests.
 *
 * @param isReady true if the database answers and the process is not stopping; Redis is not needed
 */
export function serveProbes(app: Express, isReady: () => Promise<boolean>): void {
  serveFixed(app, '/healthz', (_request, response) => sendJson(response, { status: 'ok' }));
  serveFixed(app, '/readyz', async (_request, response) => {
    if (await isReady()) sendJson(response, { status: 'ready' });
    else sendProblem(response, problem('service_unavailable'));
  });
}

export function serveMetrics(app: Express, registry: Registry): void {
  serveFixed(app, '/metrics', async (_request, response) => {
    const body = await registry.metrics();
    sendAnswer(response, { headers: { 'Content-Type': registry.contentType }, body });
  });
}
