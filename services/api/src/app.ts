import type { Logger, Registry } from '@enterprise-api/shared/runtime';
import express, { type Express } from 'express';
import type { Principal } from './auth/guard.ts';
import type { InternalAccess } from './auth/internal-guard.ts';
import { type ServeOptions, serveRoutes } from './http/routing/serve-routes.ts';
import { attachRequestContext, type RequestContextOptions } from './http/server/attach-request-context.ts';
import { answerNotFound, createErrorHandler } from './http/server/error-handler.ts';
import { forbidStorage, requireHost } from './http/server/head-rules.ts';
import { metricsRoute, type ProbeOptions, probeRoutes } from './http/server/probe-routes.ts';

interface CommonOptions {
  log: Logger;
  requestContext: RequestContextOptions;
}

/** The public listener: `/v1`, `/scim/v2`, and the probes. */
export function createPublicApp(
  options: CommonOptions & { probes: ProbeOptions; api: ServeOptions<Principal> },
): Express {
  const app = bareApp(options);
  app.use(probeRoutes(options.probes));
  app.use(['/v1', '/scim/v2'], forbidStorage, serveRoutes(options.api));
  return closed(app, options.log);
}

/** The internal listener: `/internal/v1`, and the metrics. */
export function createInternalApp(
  options: CommonOptions & { registry: Registry; api: ServeOptions<InternalAccess> },
): Express {
  const app = bareApp(options);
  app.get('/metrics', metricsRoute(options.registry));
  app.use('/internal', forbidStorage, serveRoutes(options.api));
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
  app.use(requireHost);
  return app;
}

function closed(app: Express, log: Logger): Express {
  app.use(answerNotFound);
  app.use(createErrorHandler(log));
  return app;
}
