import type { Logger, Registry } from '@enterprise-api/shared/runtime';
import express, { type Express, type RequestHandler } from 'express';
import type { InternalAccess, InternalSecrets } from './auth/internal-guard.ts';
import type { Principal } from './auth/judge.ts';
import type { ForwardAuthentication } from './forward-authentication/forward-authentication.ts';
import { authorizePath, forwardAuthenticationRoute } from './forward-authentication/route.ts';
import { isApiPath } from './http/parsing/request-target.ts';
import { sendProblem } from './http/routing/respond.ts';
import { type ServeOptions, serveRoutes } from './http/routing/serve-routes.ts';
import { answerNotFound, createErrorHandler } from './http/server/error-handler.ts';
import { metricsRoute, type ProbeOptions, probeRoutes } from './http/server/probe-routes.ts';
import {
  attachRequestContext,
  forbidStorage,
  type RequestContextOptions,
  requestContextOf,
} from './http/server/request-context.ts';
import { documentRoute } from './openapi/document-route.ts';
import { documentPaths } from './openapi/service-paths.ts';
import type { JsonObject } from './openapi/types.ts';
import { createReference } from './reference/reference.ts';
import { referenceRoute } from './reference/route.ts';

interface CommonOptions {
  log: Logger;
  requestContext: RequestContextOptions;
}

/** The public listener: `/v1`, `/scim/v2`, the reference pages, the OpenAPI document, and the probes. */
export function createPublicApp(
  options: CommonOptions & {
    probes: ProbeOptions;
    document: () => JsonObject;
    api: ServeOptions<Principal>;
  },
): Express {
  const app = bareApp(options);
  app.use(judgedByDecodedPath(serveRoutes(options.api)));
  app.use(referenceRoute(() => createReference(options.document())));
  app.use(probeRoutes(options.probes));
  app.use(documentRoute(documentPaths.public, options.document));
  return closed(app, options.log);
}

/** The internal listener: `/internal/v1`, the metrics, and the OpenAPI document. */
export function createInternalApp(
  options: CommonOptions & {
    registry: Registry;
    authorize: ForwardAuthentication;
    secrets: InternalSecrets;
    document: () => JsonObject;
    api: ServeOptions<InternalAccess>;
  },
): Express {
  const app = bareApp(options);
  app.use(metricsRoute(options.registry));
  // Envoy appends the path of the request that it asks about.
  app.use(authorizePath, forwardAuthenticationRoute(options.authorize, options.secrets));
  app.use(documentRoute(documentPaths.internal, options.document));
  app.use('/internal', serveRoutes(options.api));
  return closed(app, options.log);
}

function bareApp({ requestContext }: CommonOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.disable('query parser');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.use(attachRequestContext(requestContext));
  return app;
}

function closed(app: Express, log: Logger): Express {
  app.use(answerNotFound);
  app.use(createErrorHandler(log));
  return app;
}

/**
 * Leads every path that decodes to one of the API to its routes: Express would compare the undecoded path. A path that two
 * programs may read differently is refused on the whole listener, before anybody asks whom it belongs to.
 */
function judgedByDecodedPath(serve: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const { target } = requestContextOf(response);
    if (target.refusal === null && !isApiPath(target.path)) return next();
    if (target.refusal === null) return serve(request, response, next);
    forbidStorage(response);
    return sendProblem(response, target.refusal);
  };
}
