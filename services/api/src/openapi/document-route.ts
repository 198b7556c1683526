import type { RequestHandler } from 'express';
import type { Route } from '../http/routing/define-route.ts';
import { type StaticFile, sendStaticFile, staticFile } from '../http/routing/static-file.ts';
import { fixedRoute } from '../http/server/fixed-route.ts';
import { createDocument } from './document.ts';
import { documentPaths } from './service-paths.ts';
import type { Listener } from './types.ts';

/** Serves the OpenAPI document of a listener. The first request makes it: that takes a tenth of a second. */
export function documentRoute<Access>(listener: Listener, routes: readonly Route<Access>[]): RequestHandler {
  let file: StaticFile | undefined;
  return fixedRoute(documentPaths[listener], (request, response) => {
    file ??= staticFile('application/json', JSON.stringify(createDocument(listener, routes)));
    sendStaticFile(request, response, file);
  });
}
