import { areaCatalogue, areaNames } from '@enterprise-api/shared/contracts';
import type { JsonObject } from './types.ts';

/** Lists the operations that other services answer, each with the scope that the API requires. */
export function areaOperations(): JsonObject[] {
  return areaNames.flatMap((area) => {
    const { path, below, scopes, exception } = areaCatalogue[area];
    const at = (place: string) =>
      Object.entries(scopes).map(([method, scope]) => ({ area, method, path: place, scope }));
    return [
      ...at(path),
      ...(exception === undefined
        ? []
        : [{ area, method: exception.method, path: exception.path, scope: exception.scope }]),
      ...(below ? at(`${path}/{path}`) : []),
    ];
  });
}
