import type { Area, IdPrefix, RequiredScope, RouteScope } from '@enterprise-api/shared/contracts';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import { type Problem, problem } from '../problem.ts';
import type { Route } from './define-route.ts';

export type Operation<Access> =
  | Existing<Access>
  | { kind: 'other_method'; path: string; allow: string }
  | { kind: 'unknown' };

type Existing<Access> =
  | { kind: 'route'; route: Route<Access>; rawIds: Readonly<Record<string, string>> }
  | { kind: 'area'; path: string; area: Area; scope: RequiredScope };

export function existing<Access>(operation: Operation<Access>): Existing<Access> | Problem {
  if (operation.kind === 'unknown') return problem('not_found');
  if (operation.kind !== 'other_method') return operation;
  return problem('method_not_allowed', { headers: { Allow: operation.allow } });
}

export function scopeOf<Access>(operation: Operation<Access>): RouteScope | null {
  if (operation.kind === 'route') return operation.route.scope;
  return operation.kind === 'area' ? operation.scope : null;
}

/** True if the operation needs nothing but a valid key. */
export function acceptsAnyKey<Access>(operation: Operation<Access>): boolean {
  return operation.kind === 'route' && operation.route.caller === 'any_key';
}

export interface RouteTable<Access> {
  readonly routes: readonly Route<Access>[];
  /**
   * Finds a route by method and decoded path; HEAD finds the GET route. A literal segment takes precedence over `{…}`.
   * A path with a trailing slash is a different path.
   */
  find(method: string, path: string): Operation<Access>;
}

/**
 * @throws if two routes share method and path, or name one parameter differently. Also if a `/v1` route declares
 *   neither a scope nor the caller `anyone` or `any_key`.
 */
export function createRouteTable<Access>(routes: readonly Route<Access>[]): RouteTable<Access> {
  const byShape = Map.groupBy(routes, ({ path }) => path.replace(/\{\w+\}/g, '{}'));
  // `{` sorts after every letter, so literal segments come first.
  const paths = [...byShape.keys()].sort().map((shape) => pathOf(byShape.get(shape) ?? []));
  return {
    routes,
    find: (method, path) => {
      for (const { pattern, methods, ...other } of paths) {
        const found = pattern.exec(path);
        if (found === null) continue;
        const route = methods.get(method === 'HEAD' ? 'GET' : method);
        return route === undefined
          ? { kind: 'other_method', ...other }
          : { kind: 'route', route, rawIds: found.groups ?? {} };
      }
      return { kind: 'unknown' };
    },
  };
}

function pathOf<Access>(routes: readonly Route<Access>[]) {
  const path = routes[0]?.path ?? '';
  const methods = new Map<string, Route<Access>>();
  for (const route of routes) {
    const what = `${route.method} ${route.path}`;
    if (route.path !== path) throw new Error(`${what}: its parameters have other names in ${path}.`);
    if (methods.has(route.method)) throw new Error(`${what}: declared twice.`);
    if (/^\/v1(?:\/|$)/.test(path) && route.scope === null && !['anyone', 'any_key'].includes(route.caller)) {
      throw new Error(`${what}: declare its scope, or that anyone may call it.`);
    }
    if (route.caller === 'anyone' && route.method !== 'GET') throw new Error(`${what}: anyone may only read.`);
    methods.set(route.method, route);
  }
  const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
  const allow = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return { path, pattern, methods, allow };
}

export function resolveIds(
  kinds: Readonly<Record<string, IdPrefix>>,
  raw: Readonly<Record<string, string>>,
): Record<string, string> | null {
  const ids: Record<string, string> = {};
  for (const [name, prefix] of Object.entries(kinds)) {
    const uuid = fromPublicId(prefix, raw[name] ?? '');
    if (uuid === null) return null;
    ids[name] = uuid;
  }
  return ids;
}
