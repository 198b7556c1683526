import {
  type Area,
  type AreaMethod,
  areaCatalogue,
  areaNames,
  type RequiredScope,
} from '@enterprise-api/shared/contracts';
import type { AnyRoute } from './wrongs.ts';

const bare = { caller: 'authenticated', ids: {} } as const;

/** A path that is nobody's. */
export const unknownPath: AnyRoute = { ...bare, method: 'GET', path: '/v1/unknown', scope: null };

/** Every method that an area grants, on its first path, on one below it, and on the path that needs another scope. */
export function everyAreaOperation(): (AnyRoute & { area: Area })[] {
  return areaNames.flatMap((area) => {
    const { path, below, scopes, exception } = areaCatalogue[area];
    const entries = Object.entries(scopes) as [AreaMethod, RequiredScope][];
    const own = entries.map(([method, scope], index) => ({
      ...bare,
      area,
      // A route of our own is not declared for HEAD; the requests of these are sent as they stand here.
      method: method as AnyRoute['method'],
      path: below && index % 2 === 0 ? `${path}/some_1` : path,
      scope,
    }));
    if (exception === undefined) return own;
    const { method, path: pattern, scope } = exception;
    const concrete = pattern.replace(/\{\w+\}/g, 'some_1');
    return [...own, { ...bare, area, method: method as AnyRoute['method'], path: concrete, scope }];
  });
}
