import { type Area, areaCatalogue, areaOperation } from '@enterprise-api/shared/contracts';
import type { RouteTable } from './route-table.ts';

/**
 * Adds the areas that other services own to a table of routes. A route of the table answers where its area has no upstream.
 *
 * @param forwarded the areas that have an upstream
 */
export function withAreas<Access>(own: RouteTable<Access>, forwarded: ReadonlySet<Area>): RouteTable<Access> {
  return {
    routes: own.routes,
    find: (method, path) => {
      const operation = areaOperation(method, path);
      if (operation === null) return own.find(method, path);
      if (!forwarded.has(operation.area)) {
        const answeredHere = own.find(method, path);
        if (answeredHere.kind !== 'unknown') return answeredHere;
      }
      const { area, scope, allow } = operation;
      const { path: base } = areaCatalogue[area];
      return scope === null ? { kind: 'other_method', path: base, allow } : { kind: 'area', path: base, area, scope };
    },
  };
}
