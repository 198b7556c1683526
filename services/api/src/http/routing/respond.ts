import { errorCatalogue } from '@enterprise-api/shared/contracts';
import type { Response } from 'express';
import { type Problem, problemBody, problemHeaders, scimProblemBody } from '../../core/problem.ts';
import { requestContextOf, targetOf } from '../server/request-context.ts';

/** An answer, ready to be sent, or to be kept and sent again. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Null: there is none, as with 204. */
  readonly body: string | null;
}

export function jsonAnswer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  contentType = 'application/json',
): Answer {
  return {
    status,
    headers: { ...headers, 'Content-Type': `${contentType}; charset=utf-8` },
    body: JSON.stringify(body),
  };
}

const scimPath = /^\/scim\/v2(?:\/|$)/;

/** The one place that turns a problem into an answer. */
export function problemAnswer(response: Response, found: Problem): Answer {
  const context = requestContextOf(response);
  context.errorCode = found.problem;
  const { status } = errorCatalogue[found.problem];
  const headers = problemHeaders(found);
  return scimPath.test(targetOf(response.req).path)
    ? jsonAnswer(status, scimProblemBody(found, context.requestId), headers, 'application/scim+json')
    : jsonAnswer(status, problemBody(found, context.requestId), headers);
}

/** Sends without Express's own `json()`, which would look for ETags and formats that we do not use. */
export function sendAnswer(response: Response, { status, headers, body }: Answer): void {
  const all: Record<string, string | number> = { ...requestContextOf(response).headers, ...headers };
  if (body === null) {
    response.writeHead(status, all).end();
    return;
  }
  all['Content-Length'] = Buffer.byteLength(body);
  // As a string, it leaves in one write with the head.
  response.writeHead(status, all).end(body);
}

export function sendJson(response: Response, status: number, body: unknown): void {
  sendAnswer(response, jsonAnswer(status, body));
}

export function sendProblem(response: Response, found: Problem): void {
  sendAnswer(response, problemAnswer(response, found));
}
