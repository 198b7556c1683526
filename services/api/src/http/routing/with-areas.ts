import { type Area, areaCatalogue, areaOperation } from '@enterprise-api/shared/contracts';
import type { RouteTable } from './route-table.ts';

/**
 * Adds the areas of other services to a route table. If an area has no upstream, the table's own route answers.
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
