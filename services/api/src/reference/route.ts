import type { RequestHandler } from 'express';
import type { Route } from '../http/routing/define-route.ts';
import { type StaticFile, sendStaticFile } from '../http/routing/static-file.ts';
import { refuseMethod } from '../http/server/fixed-route.ts';
import { requestContextOf } from '../http/server/request-context.ts';
import { createDocument } from '../openapi/document.ts';
import { createReference } from './reference.ts';

/**
 * What a page of the reference may load, and from where: its own style, script and icon; its script may call this API. No
 * script or style inside a page, no plug-ins, no forms that are sent, no frames around it, and no text that becomes markup.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** `/docs` and below: pages for everyone, without a key, made by the first request. Other paths are left to what follows. */
export function referenceRoute<Access>(routes: readonly Route<Access>[]): RequestHandler {
  let files: ReadonlyMap<string, StaticFile> | undefined;
  return (request, response, next) => {
    const context = requestContextOf(response);
    if (!/^\/docs(?:\/|$)/.test(context.target.path)) return next();
    files ??= createReference(createDocument('public', routes));
    const file = files.get(context.target.path);
    if (file === undefined) return next();
    context.route = '/docs';
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(response);
    sendStaticFile(request, response, file, { 'Content-Security-Policy': contentSecurityPolicy });
  };
}
