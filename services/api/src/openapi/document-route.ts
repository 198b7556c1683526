import type { RequestHandler } from 'express';
import { type StaticFile, sendStaticFile, staticFile } from '../http/routing/static-file.ts';
import { fixedRoute } from '../http/server/fixed-route.ts';
import type { JsonObject } from './types.ts';

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
