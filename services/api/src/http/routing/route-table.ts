import type { Area, IdPrefix, RequiredScope } from '@enterprise-api/shared/contracts';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import { type Problem, problem } from '../problem.ts';
import type { Method, Route } from './define-route.ts';

/** What a request's method and path lead to: a route of this service, or an area that another service owns. */
export type Operation<Access> =
  | Existing<Access>
  | { kind: 'other_method'; path: string; allow: string }
  | { kind: 'unknown' };

type Existing<Access> =
  | { kind: 'route'; route: Route<Access>; rawIds: Readonly<Record<string, string>> }
  | { kind: 'area'; path: string; area: Area; scope: RequiredScope };

/** The operation, or 404 for an unknown path, or 405 for another method. */
export function existing<Access>(operation: Operation<Access>): Existing<Access> | Problem {
  if (operation.kind === 'unknown') return problem('not_found');
  if (operation.kind !== 'other_method') return operation;
  return problem('method_not_allowed', { headers: { Allow: operation.allow } });
}

/** The scope that an operation needs. A path or method that is not there needs none. */
export function scopeOf<Access>(operation: Operation<Access>): RequiredScope | null {
  if (operation.kind === 'route') return operation.route.scope;
  return operation.kind === 'area' ? operation.scope : null;
}

export interface RouteTable<Access> {
  readonly routes: readonly Route<Access>[];
  /**
   * Finds by method and decoded path; HEAD finds GET. Literal segments win over `{…}`; a trailing slash is another path.
   */
  find(method: string, path: string): Operation<Access>;
}

interface Node<Access> {
  readonly literals: Map<string, Node<Access>>;
  parameter: { name: string; node: Node<Access> } | undefined;
  readonly methods: Map<string, Route<Access>>;
}

/**
 * @throws for two routes with one method and path, for two names of one parameter, and for a route of `/v1` that declares
 *   neither a scope nor that anyone may call it
 */
export function createRouteTable<Access>(routes: readonly Route<Access>[]): RouteTable<Access> {
  const root = emptyNode<Access>();
  for (const route of routes) insert(root, route);
  return {
    routes,
    find: (method, path) => {
      const rawIds: Record<string, string> = {};
      const node = walk(root, path, rawIds);
      if (node === undefined || node.methods.size === 0) return { kind: 'unknown' };
      const route = node.methods.get(method === 'HEAD' ? 'GET' : method);
      if (route !== undefined) return { kind: 'route', route, rawIds };
      const [[, some] = []] = node.methods;
      return { kind: 'other_method', path: some?.path ?? path, allow: allowOf(node) };
    },
  };
}

function allowOf<Access>({ methods }: Node<Access>): string {
  return [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
}

function insert<Access>(root: Node<Access>, route: Route<Access>): void {
  const what = `${route.method} ${route.path}`;
  if (/^\/v1(?:\/|$)/.test(route.path) && route.scope === null && route.caller !== 'anyone') {
    throw new Error(`${what}: declare its scope, or that anyone may call it.`);
  }
  if (route.caller === 'anyone' && route.method !== 'GET') throw new Error(`${what}: anyone may only read.`);
  let node = root;
  for (const segment of route.path.split('/')) {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined) {
      const next = node.literals.get(segment) ?? emptyNode();
      node.literals.set(segment, next);
      node = next;
    } else {
      node.parameter ??= { name, node: emptyNode() };
      if (node.parameter.name !== name) {
        throw new Error(`${what}: {${name}} is called {${node.parameter.name}} in another route.`);
      }
      node = node.parameter.node;
    }
  }
  const method: Method = route.method;
  if (node.methods.has(method)) throw new Error(`${what}: declared twice.`);
  node.methods.set(method, route);
}

function walk<Access>(root: Node<Access>, path: string, rawIds: Record<string, string>): Node<Access> | undefined {
  let node: Node<Access> | undefined = root;
  for (const segment of path.split('/')) {
    const literal: Node<Access> | undefined = node.literals.get(segment);
    if (literal === undefined && node.parameter !== undefined && segment !== '') {
      rawIds[node.parameter.name] = segment;
      node = node.parameter.node;
    } else {
      node = literal;
    }
    if (node === undefined) return undefined;
  }
  return node;
}

function emptyNode<Access>(): Node<Access> {
  return { literals: new Map(), parameter: undefined, methods: new Map() };
}

/** The internal ids behind the ids of the path, or null when one of them is malformed. */
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
