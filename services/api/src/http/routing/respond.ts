import { errorCatalogue } from '@enterprise-api/shared/contracts';
import type { Response } from 'express';
import { isScimTarget } from '../parsing/request-target.ts';
import { isProblem, type Problem } from '../problem.ts';
import { problemBody, problemHeaders, scimProblemBody } from '../problem-answer.ts';
import { lingerAfterAnswer } from '../server/lingering-close.ts';
import { announcesBody, requestContextOf } from '../server/request-context.ts';
import { type Route, statuses } from './define-route.ts';
import { isUnchanged, notModified, type Tagged } from './etag.ts';
import { type Streamed, sendStreamed } from './streamed.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly streamed?: Streamed;
}

/** An answer whose body may be a binary file. The default status is 200. */
type SendableAnswer = Omit<Answer, 'status' | 'body'> & {
  readonly status?: number;
  readonly body: string | Buffer | null;
};

export type Renderer = (response: Response, outcome: unknown) => Answer;

/**
 * @param check whether to validate answers against their schema, which refuses undeclared fields. The tests check every
 *   route, so that a column selected by mistake never leaves the process.
 */
export function createRenderer<Access>(route: Route<Access>, check: boolean): Renderer {
  const { response: schema, doneResponse = schema, status, streams } = route;
  const checked = (shown: unknown, as = schema) => (check && as !== undefined ? as.parse(shown) : shown);
  return (response, outcome) => {
    if (isProblem(outcome)) return problemAnswer(response, outcome);
    if (streams !== undefined) return streamedAnswer(status, streams, outcome as Streamed);
    if (schema === undefined) return { status, headers: {}, body: null };
    const { etag, tagged } = route.etag ? (outcome as Tagged<unknown>) : { etag: undefined, tagged: outcome };
    if (etag !== undefined && route.method === 'GET' && isUnchanged(response.req.headers['if-none-match'], etag)) {
      return { status: notModified, headers: { ETag: etag }, body: null };
    }
    if (route.eventIds !== undefined) requestContextOf(response).eventIds = route.eventIds(tagged);
    const location = route.location?.(tagged);
    const headers = {
      ...(location !== undefined && { Location: location }),
      ...(etag !== undefined && { ETag: etag }),
    };
    return route.isDone?.(outcome)
      ? jsonAnswer(statuses.done, checked(tagged, doneResponse), headers)
      : jsonAnswer(status, checked(tagged), headers);
  };
}

function streamedAnswer(status: number, type: string, streamed: Streamed): Answer {
  // Without `X-Accel-Buffering`, nginx would buffer the stream.
  const headers = { 'Content-Type': `${type}; charset=utf-8`, 'X-Accel-Buffering': 'no', ...streamed.headers };
  return { status, headers, body: null, streamed };
}

function jsonAnswer(
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

function problemAnswer(response: Response, found: Problem): Answer {
  const context = requestContextOf(response);
  context.errorCode = found.problem;
  const { status } = errorCatalogue[found.problem];
  const headers = problemHeaders(found);
  return isScimTarget(context.judgedTarget ?? context.target)
    ? jsonAnswer(status, scimProblemBody(found), headers, 'application/scim+json')
    : jsonAnswer(status, problemBody(found, context.requestId), headers);
}

/**
 * Sends an answer. If the request's body is still unread, this function closes the connection after the answer.
 * On an open connection, the client's next request would wait until the rest of this body was received.
 */
export function sendAnswer(response: Response, answer: SendableAnswer): void {
  const { req: request } = response;
  if (request.complete || !announcesBody(request)) return write(response, answer);
  // A body that has already arrived counts as read. Node.js needs one more loop iteration to parse the bytes that the
  // process or the kernel holds.
  request.resume();
  setImmediate(() =>
    setImmediate(() => {
      if (request.complete) return write(response, answer);
      lingerAfterAnswer(request.socket);
      write(response, { ...answer, headers: { ...answer.headers, Connection: 'close' } });
    }),
  );
}

/** Avoids Express's `json()`, which would compute ETags and negotiate formats. */
function write(response: Response, answer: SendableAnswer): void {
  const { status = statuses.done, headers, body, streamed } = answer;
  const all: Record<string, string | number> = { ...requestContextOf(response).headers, ...headers };
  if (streamed !== undefined) return sendStreamed(response.writeHead(status, all), streamed);
  if (body === null) {
    response.writeHead(status, all).end();
    return;
  }
  const length = Buffer.byteLength(body);
  all['Content-Length'] = length;
  if (response.req.method !== 'HEAD') requestContextOf(response).bytesOut = length;
  // Node.js sends a string body and the head in one write.
  response.writeHead(status, all).end(body);
}

export function sendJson(response: Response, body: unknown): void {
  sendAnswer(response, jsonAnswer(statuses.done, body));
}

export function sendProblem(response: Response, found: Problem): void {
  sendAnswer(response, problemAnswer(response, found));
}
