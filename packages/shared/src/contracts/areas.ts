import type { RequiredScope } from './scopes.ts';

/**
 * Areas of the service that internal services own. The API authenticates, authorizes and limits the requests to these
 * areas.
 */
export const areaNames = ['consultations', 'batches', 'panels', 'usage', 'automations', 'chat', 'scim'] as const;
export type Area = (typeof areaNames)[number];

/** The areas that usage reports distinguish: areas of internal services, and areas that the API serves itself. */
export const usageAreaNames = [...areaNames, 'webhooks', 'me'] as const;
export type UsageArea = (typeof usageAreaNames)[number];

export type AreaMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface AreaRow {
  /** The shortest path of the area: `/v1/consultations`. It has two segments, unless it is the area's only path. */
  readonly path: string;
  readonly below: boolean;
  /** The scope that each allowed method needs. The API answers 405 to other methods. */
  readonly scopes: Readonly<Partial<Record<AreaMethod, RequiredScope>>>;
  readonly exception?: AreaException;
}

export interface AreaException {
  readonly method: AreaMethod;
  readonly path: string;
  readonly matches: (path: string) => boolean;
  readonly scope: RequiredScope;
}

/** Routes, forward authentication, OpenAPI, documents and tests derive from this catalogue. */
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

export interface AreaOperation {
  readonly area: Area;
  /** The scope that the API key needs. Null if the area does not allow the method: the API answers 405. */
  readonly scope: RequiredScope | null;
  readonly allow: string;
}

/**
 * @param path percent-decoded once, without a query
 * @returns null if no area has the path
 */
export function areaOperation(method: string, path: string): AreaOperation | null {
  const area = areaOf(path);
  if (area === undefined) return null;
  const { scopes, exception } = areaCatalogue[area];
  const isException = exception?.method === method && exception.matches(path);
  const usual = Object.hasOwn(scopes, method) ? scopes[method as AreaMethod] : undefined;
  return { area, scope: (isException ? exception.scope : usual) ?? null, allow: Object.keys(scopes).join(', ') };
}

/** The area that usage reports show for this path; undefined if the path belongs neither to an area nor to the API. */
export function usageAreaOf(path: string): UsageArea | undefined {
  return areaOf(path) ?? ownAreas.get(headOf(path));
}

/** The area of a path, whatever the method. */
export function areaOf(path: string): Area | undefined {
  const area = areasByHead.get(headOf(path));
  if (area === undefined) return undefined;
  const { path: first, below } = areaCatalogue[area];
  return below || path === first ? area : undefined;
}

/** The area that usage reports show for requests with this scope: a scope begins with its area's name. */
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

/**
 * Matches `/v1/automations/{id}/trigger`, even with a trailing `/` or `;…`, because some servers ignore such endings.
 */
function triggersAutomation(path: string): boolean {
  const [, , , , action = '', ...rest] = path.split('/');
  return action.split(';', 1)[0] === 'trigger' && rest.join('/') === '';
}
