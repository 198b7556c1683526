import express, { type Express, type RequestHandler } from 'express';
import { isApiPath } from '../parsing/request-target.ts';
import { sendProblem } from '../routing/respond.ts';
import { answerNotFound, createErrorHandler } from './error-handler.ts';
import {
  attachRequestContext,
  forbidStorage,
  type RequestContextOptions,
  requestContextOf,
} from './request-context.ts';

/** Attaches the request context, tries the mounts in order, and answers 404 last. */
export function createApp(options: RequestContextOptions, mount: (app: Express) => void): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.disable('query parser');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.use(attachRequestContext(options));
  mount(app);
  app.use(answerNotFound);
  app.use(createErrorHandler(options.log));
  return app;
}

/**
 * Routes API paths by their decoded form, because Express would compare the undecoded path. Before any routing, refuses
 * paths that two programs may read differently. The refusal covers the whole listener.
 */
export function judgedByDecodedPath(serve: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const { target } = requestContextOf(response);
    if (target.refusal === null && !isApiPath(target.path)) return next();
    if (target.refusal === null) return serve(request, response, next);
    forbidStorage(response);
    return sendProblem(response, target.refusal);
  };
}
