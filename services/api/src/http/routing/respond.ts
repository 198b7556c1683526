import { anyJsonSchema, errorCatalogue, eventDataSchema } from '@enterprise-api/shared/contracts';
import type { Response } from 'express';
import { z } from 'zod';
import { isScimTarget } from '../parsing/request-target.ts';
import { isProblem, type Problem } from '../problem.ts';
import { problemBody, problemHeaders, scimProblemBody } from '../problem-answer.ts';
import { lingerAfterAnswer } from '../server/lingering-close.ts';
import { announcesBody, requestContextOf } from '../server/request-context.ts';
import type { Route } from './define-route.ts';
import { isUnchanged, type Tagged } from './etag.ts';
import { type Streamed, sendStreamed } from './streamed.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly streamed?: Streamed;
}

/** An answer whose body may be a binary file. */
type SendableAnswer = Omit<Answer, 'body'> & { readonly body: string | Buffer | null };

export type Renderer = (response: Response, outcome: unknown) => Answer;

/** @param check validates the answer against its schema instead of only removing undeclared fields */
export function createRenderer<Access>(route: Route<Access>, check: boolean): Renderer {
  const { method, path, response: schema, status, streams } = route;
  if (schema === undefined) {
    return (response, outcome) => {
      if (isProblem(outcome)) return problemAnswer(response, outcome);
      if (streams === undefined) return { status, headers: {}, body: null };
      const streamed = outcome as Streamed;
      // Without `X-Accel-Buffering`, nginx would buffer the stream.
      const ofStreams = { 'Content-Type': `${streams}; charset=utf-8`, 'X-Accel-Buffering': 'no' };
      return { status, headers: { ...ofStreams, ...streamed.headers }, body: null, streamed };
    };
  }
  const picked = createPicker(schema, `${method} ${path}: response`);
  const pick: Picker = check ? (shown) => schema.parse(shown) : picked;
  return (response, outcome) => {
    if (isProblem(outcome)) return problemAnswer(response, outcome);
    if (route.etag) return taggedAnswer(response, route, outcome as Tagged<unknown>, pick);
    if (route.eventIds !== undefined) requestContextOf(response).eventIds = route.eventIds(outcome);
    return jsonAnswer(status, pick(outcome), locationOf(route, outcome));
  };
}

function taggedAnswer<Access>(
  { req }: Response,
  route: Route<Access>,
  { etag, tagged }: Tagged<unknown>,
  pick: Picker,
): Answer {
  if (route.method === 'GET' && isUnchanged(req.headers['if-none-match'], etag)) {
    return { status: 304, headers: { ETag: etag }, body: null };
  }
  return jsonAnswer(route.status, pick(tagged), { ...locationOf(route, tagged), ETag: etag });
}

function locationOf<Access>({ location }: Route<Access>, shown: unknown): Readonly<Record<string, string>> {
  return location === undefined ? {} : { Location: location(shown) };
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
 * Otherwise the client's next request would wait until the rest of this body was received.
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
function write(response: Response, { status, headers, body, streamed }: SendableAnswer): void {
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
  sendAnswer(response, jsonAnswer(200, body));
}

export function sendProblem(response: Response, found: Problem): void {
  sendAnswer(response, problemAnswer(response, found));
}

type Picker = (value: unknown) => unknown;

/**
 * Creates a function that removes undeclared fields, so that a column selected by mistake never leaves the process. It
 * does not validate, which would cost time on every request; tests validate with the same schema.
 *
 * @param place position of the schema, for the error
 * @throws at startup, for a schema whose declared fields it cannot pick
 */
export function createPicker(schema: z.ZodType, place = 'response'): Picker {
  if (schema instanceof z.ZodObject) return createObjectPicker(schema, place);
  if (hasNoFields(schema) || passedOn.has(schema)) return (value) => value;
  if (schema instanceof z.ZodArray) {
    const pick = createPicker(schema.element as z.ZodType, `${place}[]`);
    return (value) => (value as unknown[]).map(pick);
  }
  if (schema instanceof z.ZodRecord && schema.keyType instanceof z.ZodString) {
    const pick = createPicker(schema.valueType as z.ZodType, `${place}{}`);
    const picked = ([name, field]: [string, unknown]) => [name, pick(field)] as const;
    // `fromEntries` defines a field even if its name is `__proto__`; an assignment would set the prototype.
    return (value) => Object.fromEntries(Object.entries(value as Record<string, unknown>).map(picked));
  }
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) {
    const pick = createPicker(schema.unwrap() as z.ZodType, place);
    return (value) => (value == null ? value : pick(value));
  }
  throw new Error(`${place}: cannot pick declared fields from a schema of type "${schema.def.type}".`);
}

/** Schemas of documents whose fields we do not declare. */
const passedOn = new Set<z.ZodType>([anyJsonSchema, eventDataSchema]);

const scalarTypes = new Set(['string', 'number', 'int', 'boolean', 'null', 'literal', 'enum', 'template_literal']);

function hasNoFields(schema: z.ZodType): boolean {
  if (schema instanceof z.ZodUnion) return (schema.options as z.ZodType[]).every(hasNoFields);
  if (schema instanceof z.ZodArray) return hasNoFields(schema.element as z.ZodType);
  return scalarTypes.has(schema.def.type);
}

function createObjectPicker({ shape, def: { catchall } }: z.ZodObject, place: string): Picker {
  if (catchall !== undefined && !(catchall instanceof z.ZodNever)) {
    throw new Error(`${place}: cannot pick declared fields from an object that allows any others.`);
  }
  const fields = Object.entries(shape).map(
    ([name, field]) => [name, createPicker(field as z.ZodType, `${place}.${name}`)] as const,
  );
  return (value) => {
    const picked: Record<string, unknown> = {};
    for (const [name, pick] of fields) {
      const field = (value as Record<string, unknown>)[name];
      if (field !== undefined) picked[name] = pick(field);
    }
    return picked;
  };
}
