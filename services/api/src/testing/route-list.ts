import { createDatabaseClock } from '@enterprise-api/shared/ledger';
import { systemClock } from '@enterprise-api/shared/runtime';
import type { Route, RouteDescription } from '../http/routing/define-route.ts';
import { internalRoutes, publicRoutes } from '../routes.ts';
import { testConfig } from './test-api.ts';
import type { AnyRoute } from './wrongs.ts';

/** A route with what it promises on success. */
export type ListedRoute = AnyRoute &
  RouteDescription &
  Pick<Route<never>, 'errors' | 'status' | 'location' | 'etag' | 'audited'>;

/** Every route of both listeners, from the tables themselves. Their handlers are never called. */
export function everyRoute(): ListedRoute[] {
  const parts = {
    config: testConfig({ DATABASE_URL: 'postgres://nowhere/none' }),
    db: undefined as never,
    history: undefined as never,
    databaseClock: createDatabaseClock(systemClock),
    horizon: undefined as never,
    limits: undefined as never,
    eventStream: undefined as never,
    signatureCheckLimit: undefined as never,
    queue: undefined as never,
  };
  const noParts = {
    onEmitted: () => undefined,
    identityTokens: { publicKeys: [] },
    closings: { onClosed: () => undefined },
  };
  const refuse = () => Promise.reject(new Error('not to be called'));
  const noEvents = { emit: refuse, emitWithin: refuse };
  return [...publicRoutes(parts), ...internalRoutes({ ...parts, ...noParts }, noEvents)];
}
