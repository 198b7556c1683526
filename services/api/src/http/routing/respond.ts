import { anyJsonSchema, errorCatalogue, eventDataSchema } from '@enterprise-api/shared/contracts';
import type { Response } from 'express';
import { z } from 'zod';
import { isScimTarget } from '../parsing/request-target.ts';
import { isProblem, type Problem, problemBody, problemHeaders, scimProblemBody } from '../problem.ts';
import { lingerAfterAnswer } from '../server/lingering-close.ts';
import { announcesBody, requestContextOf } from '../server/request-context.ts';
import type { Route } from './define-route.ts';
import { isUnchanged, type Tagged } from './etag.ts';
import { type Streamed, sendStreamed } from './streamed.ts';

/** An answer, ready to be sent or to be stored. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Null for an answer without a body, such as 204. */
  readonly body: string | null;
  /** Writes the body, in place of `body`. */
  readonly streamed?: Streamed;
}

/** Turns what the handler of a route returned into the answer. */
export type Renderer = (response: Response, outcome: unknown) => Answer;

/**
 * @param check validates the answer against its schema, instead of only removing undeclared fields
 * @throws for a schema of the response that no fields can be picked from
 */
export function createRenderer<Access>(route: Route<Access>, check: boolean): Renderer {
  const { method, path, response: schema, status, streams } = route;
  if (schema === undefined) {
    return (response, outcome) => {
      if (isProblem(outcome)) return problemAnswer(response, outcome);
      if (streams === undefined) return { status, headers: {}, body: null };
      const streamed = outcome as Streamed;
      // Without the second header nginx would gather the pieces of the answer.
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

/** Turns a problem into an answer. */
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
 * Sends an answer. When it comes before the body of its request was read, the connection is closed behind it: otherwise
 * the client's next request would wait until the rest of this body has gone through.
 */
export function sendAnswer(response: Response, answer: Answer): void {
  const { req: request } = response;
  if (request.complete || !announcesBody(request)) return write(response, answer);
  // A body that has arrived by now counts as read: what is in this process or in the kernel is parsed in one more turn.
  request.resume();
  setImmediate(() =>
    setImmediate(() => {
      if (request.complete) return write(response, answer);
      lingerAfterAnswer(request.socket);
      write(response, { ...answer, headers: { ...answer.headers, Connection: 'close' } });
    }),
  );
}

/** Writes without Express's `json()`, which would compute ETags and negotiate formats. */
function write(response: Response, { status, headers, body, streamed }: Answer): void {
  const all: Record<string, string | number> = { ...requestContextOf(response).headers, ...headers };
  if (streamed !== undefined) return sendStreamed(response.writeHead(status, all), streamed);
  if (body === null) {
    response.writeHead(status, all).end();
    return;
  }
  const length = Buffer.byteLength(body);
  all['Content-Length'] = length;
  if (response.req.method !== 'HEAD') requestContextOf(response).bytesOut = length;
  // As a string, it leaves in one write with the head.
  response.writeHead(status, all).end(body);
}

export function sendJson(response: Response, body: unknown): void {
  sendAnswer(response, jsonAnswer(200, body));
}

export function sendProblem(response: Response, found: Problem): void {
  sendAnswer(response, problemAnswer(response, found));
}

/** Keeps the fields that a schema declares and drops the others. */
type Picker = (value: unknown) => unknown;

/**
 * Makes the function that removes undeclared fields from an answer, so that a column that a query selects by mistake
 * does not leave the process. It does not validate: tests do, with the same schema; here it would cost on every request.
 *
 * @param place where the schema stands, for the error
 * @throws for a schema that it cannot pick from, when the process starts
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
    // `fromEntries` defines fields, also one named `__proto__`; an assignment would set the prototype.
    return (value) => Object.fromEntries(Object.entries(value as Record<string, unknown>).map(picked));
  }
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) {
    const pick = createPicker(schema.unwrap() as z.ZodType, place);
    return (value) => (value == null ? value : pick(value));
  }
  throw new Error(`${place}: cannot pick declared fields from a schema of type "${schema.def.type}".`);
}

/** Documents whose fields are not ours to declare. */
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
