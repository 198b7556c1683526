import type { Express } from 'express';
import type { Route } from '../http/routing/define-route.ts';
import { type StaticFile, sendStaticFile, staticFile } from '../http/routing/static-file.ts';
import { serveFixed } from '../http/server/serve-fixed.ts';
import { createDocument } from './document.ts';
import { documentPaths } from './service-paths.ts';
import type { Listener } from './types.ts';

/** The first request creates the document, because creating it at startup would take 0.1 s. */
export function serveDocument<Access>(app: Express, listener: Listener, routes: readonly Route<Access>[]): void {
  let file: StaticFile | undefined;
  serveFixed(app, documentPaths[listener], (request, response) => {
    file ??= staticFile('application/json', JSON.stringify(createDocument(listener, routes)));
    sendStaticFile(request, response, file);
  });
}
