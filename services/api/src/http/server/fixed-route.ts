import { type RequestHandler, type Response, Router } from 'express';
import { problem } from '../problem.ts';
import { sendProblem } from '../routing/respond.ts';
import { requestContextOf } from './request-context.ts';

/** Serves GET and HEAD of one path, without a key, outside the table of routes; any other method is 405. */
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

/** 405 of what can only be read. */
export function refuseMethod(response: Response): void {
  sendProblem(response, problem('method_not_allowed', { headers: { Allow: 'GET, HEAD' } }));
}
