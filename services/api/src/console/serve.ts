import { toPublicId } from '@enterprise-api/shared/runtime';
import type { RequestHandler } from 'express';
import type { ConsoleSettings } from '../auth/console-judge.ts';
import type { Judge, Principal } from '../auth/judge.ts';
import { isProblem } from '../http/problem.ts';
import type { Route } from '../http/routing/define-route.ts';
import { createRouteTable } from '../http/routing/route-table.ts';
import { type ServeOptions, serveRoutes } from '../http/routing/serve-routes.ts';
import type { ClientAddressOf } from '../http/server/client-address.ts';
import { requestContextOf } from '../http/server/request-context.ts';
import { hideBodies, recordShownBodies } from './bodies.ts';
import { type ConsolePrincipal, createConsoleGuard, createEnteringGuard, type EnteringAccess } from './guard.ts';
import { consolePages } from './pages.ts';

type Common = Pick<
  ServeOptions<Principal>,
  'body' | 'transactAs' | 'runOnce' | 'withDatabaseCheck' | 'within' | 'checkResponses'
>;

export interface ConsoleOptions extends Common {
  settings: ConsoleSettings;
  judge: Judge;
  addressOf: ClientAddressOf;
  /** The routes of `/v1`, without areas. */
  publicRoutes: readonly Route<Principal>[];
  ownRoutes: readonly Route<ConsolePrincipal>[];
  enter: Route<EnteringAccess>;
}

const base = '/console/api/{org}';
const enterPath = '/console/api/enter';

/** Serves `/console`: its pages, and its API. */
export function serveConsole(options: ConsoleOptions): RequestHandler {
  const [api, pages] = [consoleApi(options), consolePages(options.settings)];
  return (request, response, next) => {
    const { path } = requestContextOf(response).target;
    return path.startsWith('/console/api/') ? api(request, response, next) : pages(request, response, next);
  };
}

/** Serves the routes of `/v1`, and the console's own routes, to requests with a session's cookie. */
function consoleApi({ judge, addressOf, settings, enter, ...options }: ConsoleOptions): RequestHandler {
  const { publicUrl } = settings;
  const routes = [...options.publicRoutes.filter(isForSessions).map(withBodiesOf), ...options.ownRoutes];
  const common = { ...options, readsActor: false };
  const serve = serveRoutes<ConsolePrincipal>({
    ...common,
    table: createRouteTable(routes.map((route) => ({ ...route, path: `${base}${route.path}` }))),
    guard: createConsoleGuard({ judge, addressOf, publicUrl }),
    actorOf: ({ key }) => toPublicId('ses', key.id),
    ownerOf: ({ key }) => key.organization.id,
  });
  const serveEntering = serveRoutes<EnteringAccess>({
    ...common,
    table: createRouteTable([enter]),
    guard: createEnteringGuard({ addressOf, publicUrl }),
    actorOf: () => 'unknown',
    ownerOf: () => '',
  });
  return (request, response, next) => {
    const { path } = requestContextOf(response).target;
    return path === enterPath ? serveEntering(request, response, next) : serve(request, response, next);
  };
}

function isForSessions({ path, operationId }: Route<Principal>): boolean {
  return !path.startsWith('/v1/console-sessions') && operationId !== 'getMe' && operationId !== 'revokeOwnKey';
}

/** Hides bodies that the session may not see. The audit log names what a session from the operator's service reads. */
function withBodiesOf(route: Route<Principal>): Route<ConsolePrincipal> {
  return {
    ...(route as Route<ConsolePrincipal>),
    handle: async (input) => {
      const outcome = await route.handle(input as never);
      const { id, session, organization } = input.access.key;
      if (isProblem(outcome)) return outcome;
      if (!session.showBodies) return hideBodies(outcome) as typeof outcome;
      if (session.keyId === null) {
        const reader = { session: toPublicId('ses', id), organizationId: organization.id };
        await recordShownBodies(input.transact, reader, outcome);
      }
      return outcome;
    },
  };
}
