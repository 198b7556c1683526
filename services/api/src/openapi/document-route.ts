import type { RequestHandler } from 'express';
import type { Route } from '../http/routing/define-route.ts';
import { type StaticFile, sendStaticFile, staticFile } from '../http/routing/static-file.ts';
import { fixedRoute } from '../http/server/fixed-route.ts';
import { createDocument } from './document.ts';
import { documentPaths } from './service-paths.ts';
import type { Listener } from './types.ts';

/** The first request creates the document, because creating it at startup would take 0.1 s. */
export function documentRoute<Access>(listener: Listener, routes: readonly Route<Access>[]): RequestHandler {
  let file: StaticFile | undefined;
  return fixedRoute(documentPaths[listener], (request, response) => {
    file ??= staticFile('application/json', JSON.stringify(createDocument(listener, routes)));
    sendStaticFile(request, response, file);
  });
}
