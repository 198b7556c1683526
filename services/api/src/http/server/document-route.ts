import { hash } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { JsonObject } from '../../openapi/types.ts';
import { isUnchanged } from '../routing/etag.ts';
import { sendAnswer } from '../routing/respond.ts';
import { fixedRoute } from './fixed-route.ts';

/**
 * Serves an OpenAPI document. It changes only with the program, so clients may keep it and ask whether it is the same.
 *
 * @param document makes it; called once, by the first request: it takes a tenth of a second, which a start need not wait for
 */
export function documentRoute(path: string, document: () => JsonObject): RequestHandler {
  let answers: Answers | undefined;
  return fixedRoute(path, (request, response) => {
    answers ??= answersWith(document());
    const { etag, full, unchanged } = answers;
    sendAnswer(response, isUnchanged(request.headers['if-none-match'], etag) ? unchanged : full);
  });
}

type Answers = ReturnType<typeof answersWith>;

function answersWith(document: JsonObject) {
  const body = JSON.stringify(document);
  const etag = `"${hash('sha256', body, 'hex').slice(0, 16)}"`;
  const headers = { ETag: etag, 'Cache-Control': 'no-cache' };
  const type = { 'Content-Type': 'application/json; charset=utf-8' };
  return {
    etag,
    full: { status: 200, headers: { ...headers, ...type }, body },
    unchanged: { status: 304, headers, body: null },
  };
}
