import type { RequestHandler } from 'express';
import type { JsonObject } from '../../openapi/types.ts';
import { type StaticFile, sendStaticFile, staticFile } from '../routing/static-file.ts';
import { fixedRoute } from './fixed-route.ts';

/**
 * Serves an OpenAPI document.
 *
 * @param document makes it; called once, by the first request: it takes a tenth of a second, which a start need not wait for
 */
export function documentRoute(path: string, document: () => JsonObject): RequestHandler {
  let file: StaticFile | undefined;
  return fixedRoute(path, (request, response) => {
    file ??= staticFile('application/json', JSON.stringify(document()));
    sendStaticFile(request, response, file);
  });
}
