import { hash } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { JsonObject } from '../../openapi/types.ts';
import { isUnchanged } from '../routing/etag.ts';
import { sendAnswer } from '../routing/respond.ts';
import { fixedRoute } from './fixed-route.ts';

/** Serves an OpenAPI document. It changes only with the program, so clients may keep it and ask whether it is the same. */
export function documentRoute(path: string, document: JsonObject): RequestHandler {
  const body = JSON.stringify(document);
  const etag = `"${hash('sha256', body, 'hex').slice(0, 16)}"`;
  const headers = { ETag: etag, 'Cache-Control': 'no-cache' };
  const full = { status: 200, headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8' }, body };
  return fixedRoute(path, (request, response) => {
    const isSame = isUnchanged(request.headers['if-none-match'], etag);
    sendAnswer(response, isSame ? { status: 304, headers, body: null } : full);
  });
}
