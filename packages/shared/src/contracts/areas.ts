import type { RequiredScope } from './scopes.ts';

/** The areas of the service that internal services own. Their requests are authenticated, scoped and limited here. */
export const areaNames = ['consultations', 'batches', 'panels', 'usage', 'automations', 'chat', 'scim'] as const;
export type Area = (typeof areaNames)[number];

/** What requests are counted under: an area, or what the API serves itself. */
export const usageAreaNames = [...areaNames, 'webhooks', 'me'] as const;
export type UsageArea = (typeof usageAreaNames)[number];

export type AreaMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One row of the catalogue: which paths an area has, and which scope each method needs. */
export interface AreaRow {
  /** Where the area begins: `/v1/consultations`. It has two segments, or it is the area's only path. */
  readonly path: string;
  /** Whether the paths below belong to the area too. */
  readonly below: boolean;
  /** The scope of each method. A method without one is 405. */
  readonly scopes: Readonly<Partial<Record<AreaMethod, RequiredScope>>>;
  /** Paths where a method needs another scope. */
  readonly exception?: AreaException;
}

export interface AreaException {
  readonly method: AreaMethod;
  /** For documents: `/v1/automations/{id}/trigger`. */
  readonly path: string;
  readonly matches: (path: string) => boolean;
  readonly scope: RequiredScope;
}

/** The catalogue of areas. Routes, forward authentication, OpenAPI, documents and tests derive from it. */
export const areaCatalogue: Readonly<Record<Area, AreaRow>> = {
  consultations: {
    path: '/v1/consultations',
    below: true,
    scopes: readAndWrite('consultations:read', 'consultations:write'),
  },
  batches: { path: '/v1/batches', below: true, scopes: readAndWrite('batches:read', 'batches:write') },
  panels: { path: '/v1/panels', below: true, scopes: read('panels:read') },
  usage: { path: '/v1/usage', below: true, scopes: read('usage:read') },
  automations: {
    path: '/v1/automations',
    below: true,
    scopes: readAndWrite('automations:read', 'automations:write'),
    exception: {
      method: 'POST',
      path: '/v1/automations/{id}/trigger',
      matches: triggersAutomation,
      scope: 'automations:trigger',
    },
  },
  chat: { path: '/v1/chat/completions', below: false, scopes: { POST: 'chat.completions' } },
  scim: {
    path: '/scim/v2',
    below: true,
    scopes: readAndWrite('scim:read', 'scim:write'),
    exception: {
      method: 'POST',
      path: '/scim/v2/{resource}/.search',
      matches: (path) => path.endsWith('/.search'),
      scope: 'scim:read',
    },
  },
};

/** What a method and a path mean in the area that the path belongs to. */
export interface AreaOperation {
  readonly area: Area;
  /** The scope that the key needs; null for a method that no scope grants: 405. */
  readonly scope: RequiredScope | null;
  /** `Allow` of a 405. */
  readonly allow: string;
}

/**
 * Finds the area of a path.
 *
 * @param path percent-decoded once, without a query
 * @returns null for a path of no area
 */
export function areaOperation(method: string, path: string): AreaOperation | null {
  const area = areaOf(path);
  if (area === undefined) return null;
  const { scopes, exception } = areaCatalogue[area];
  const isException = exception?.method === method && exception.matches(path);
  const usual = Object.hasOwn(scopes, method) ? scopes[method as AreaMethod] : undefined;
  return { area, scope: (isException ? exception.scope : usual) ?? null, allow: Object.keys(scopes).join(', ') };
}

/** What requests for this path are counted under; undefined for a path of neither an area nor the API. */
export function usageAreaOf(path: string): UsageArea | undefined {
  return areaOf(path) ?? ownAreas.get(headOf(path));
}

function areaOf(path: string): Area | undefined {
  const area = areasByHead.get(headOf(path));
  if (area === undefined) return undefined;
  const { path: first, below } = areaCatalogue[area];
  return below || path === first ? area : undefined;
}

/** What requests that need this scope are counted under: a scope begins with the name of its area. */
export function usageAreaOfScope(scope: RequiredScope): UsageArea {
  const end = scope.search(/[:.]/);
  return scope.slice(0, end) as UsageArea;
}

const ownAreas: ReadonlyMap<string, UsageArea> = new Map([
  ['/v1/webhooks', 'webhooks'],
  ['/v1/events', 'webhooks'],
  ['/v1/me', 'me'],
]);

const areasByHead: ReadonlyMap<string, Area> = new Map(
  areaNames.map((area) => [headOf(areaCatalogue[area].path), area]),
);

/** The first two segments of a path: `/v1/batches` of `/v1/batches/7/results`. */
function headOf(path: string): string {
  const second = path.indexOf('/', 1);
  const end = second === -1 ? -1 : path.indexOf('/', second + 1);
  return end === -1 ? path : path.slice(0, end);
}

function read(scope: RequiredScope): AreaRow['scopes'] {
  return { GET: scope, HEAD: scope };
}

function readAndWrite(readScope: RequiredScope, writeScope: RequiredScope): AreaRow['scopes'] {
  return { ...read(readScope), POST: writeScope, PUT: writeScope, PATCH: writeScope, DELETE: writeScope };
}

/** Whether this is `/v1/automations/{id}/trigger`, also with `/` or `;…` behind it: some servers drop those. */
function triggersAutomation(path: string): boolean {
  const [, , , , action = '', ...rest] = path.split('/');
  return action.split(';', 1)[0] === 'trigger' && rest.join('/') === '';
}
