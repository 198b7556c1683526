import type { Response } from 'express';
import { isProblem } from '../../core/problem.ts';
import { requestContextOf } from '../server/request-context.ts';
import type { Route } from './define-route.ts';
import { isTagged, isUnchanged } from './etag.ts';
import { type Answer, jsonAnswer, problemAnswer } from './respond.ts';
import { createPicker, type Picker } from './response-shape.ts';

/** Turns what the handler of a route returned into the answer. */
export type Renderer = (response: Response, outcome: unknown) => Answer;

/**
 * @param check validates the answer against its schema, instead of only removing undeclared fields
 * @throws for a schema of the response that no fields can be picked from
 */
export function createRenderer<Access>(route: Route<Access>, check: boolean): Renderer {
  const { method, path, response: schema, status, location, eventIds } = route;
  if (schema === undefined) {
    return (response, outcome) =>
      isProblem(outcome) ? problemAnswer(response, outcome) : { status, headers: {}, body: null };
  }
  const picked = createPicker(schema, `${method} ${path}: response`);
  const pick: Picker = check ? (shown) => schema.parse(shown) : picked;
  return (response, outcome) => {
    if (isProblem(outcome)) return problemAnswer(response, outcome);
    const etag = isTagged(outcome) ? outcome.etag : undefined;
    if (method === 'GET' && etag !== undefined && isUnchanged(response.req.headers['if-none-match'], etag)) {
      return { status: 304, headers: { ETag: etag }, body: null };
    }
    const shown = isTagged(outcome) ? outcome.tagged : outcome;
    if (eventIds !== undefined) requestContextOf(response).eventIds = eventIds(shown);
    const headers = {
      ...(location !== undefined && { Location: location(shown) }),
      ...(etag !== undefined && { ETag: etag }),
    };
    return jsonAnswer(status, pick(shown), headers);
  };
}
