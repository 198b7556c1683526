import type { Method, Route } from './define-route.ts';

/** What a request is aimed at. */
export type Target<Access> =
  | { kind: 'route'; route: Route<Access>; rawIds: Readonly<Record<string, string>> }
  | { kind: 'other_method'; path: string; allow: string }
  | { kind: 'unknown' };

export interface RouteTable<Access> {
  readonly routes: readonly Route<Access>[];
  /** Finds by method and undecoded path. Literal segments win over `{…}`; a trailing slash is another path. */
  find(method: string, path: string): Target<Access>;
}

interface Node<Access> {
  readonly literals: Map<string, Node<Access>>;
  parameter: { name: string; node: Node<Access> } | undefined;
  readonly methods: Map<string, Route<Access>>;
}

export function createRouteTable<Access>(routes: readonly Route<Access>[]): RouteTable<Access> {
  const root = emptyNode<Access>();
  for (const route of routes) insert(root, route);
  return {
    routes,
    find: (method, path) => {
      const rawIds: Record<string, string> = {};
      const node = walk(root, path, rawIds);
      if (node === undefined || node.methods.size === 0) return { kind: 'unknown' };
      const route = node.methods.get(method);
      if (route !== undefined) return { kind: 'route', route, rawIds };
      const [[, some] = []] = node.methods;
      return { kind: 'other_method', path: some?.path ?? path, allow: [...node.methods.keys()].join(', ') };
    },
  };
}

function insert<Access>(root: Node<Access>, route: Route<Access>): void {
  let node = root;
  for (const segment of route.path.split('/')) {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined) {
      const next = node.literals.get(segment) ?? emptyNode();
      node.literals.set(segment, next);
      node = next;
    } else {
      node.parameter ??= { name, node: emptyNode() };
      node = node.parameter.node;
    }
  }
  const method: Method = route.method;
  if (node.methods.has(method)) throw new Error(`Two routes are ${method} ${route.path}.`);
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
