import type { IncomingMessage } from 'node:http';
import type { ErrorDetail } from '@enterprise-api/shared/contracts';
import type { Request } from 'express';
import { z } from 'zod';
import { invalid, isProblem, type Problem } from '../problem.ts';
import type { Route } from '../routing/define-route.ts';
import { type IfMatch, parseIfMatch } from '../routing/etag.ts';
import { announcesBody, awaitsContinue, declaredLength, type RequestContext } from '../server/request-context.ts';
import { parseQuery } from './request-target.ts';
import { type JsonLimits, parseJson } from './strict-json.ts';
import { detailsOf, type Issue, messageOf } from './zod-issues.ts';

export interface BodyLimits extends JsonLimits {
  maxBytes: number;
}

export interface Input {
  query: unknown;
  body: unknown;
  /** The parsed JSON before validation; undefined without a body. */
  json: unknown;
  ifMatch: IfMatch | null;
  lastEventId: string | null;
  idempotencyKey: string | null;
  /** `X-Actor`: on whose behalf an internal caller acts. Null on the public listener. */
  onBehalfOf: string | null;
}

const noHeaders = { ifMatch: null, lastEventId: null, idempotencyKey: null, onBehalfOf: null };
/** The input of a route that reads nothing. */
export const noInput: Input = { query: undefined, body: undefined, json: undefined, ...noHeaders };

/** Reads the parts that a route declares. Returns 415, 413 or bad JSON at once, else one 400 for all invalid parts. */
export async function readInput<Access>(
  request: Request,
  context: RequestContext,
  route: Route<Access>,
  { body: limits, readsActor }: { body: BodyLimits; readsActor: boolean },
): Promise<Input | Problem> {
  const bytes = await readBody(request, context, route.maxBodyBytes ?? limits.maxBytes);
  if (isProblem(bytes)) return bytes;
  const read = bytes.length === 0 ? { value: undefined } : parseJson(bytes, limits);
  if (isProblem(read)) return read;
  const json = read.value;
  const query = parseWith(route.query ?? noParameters, parseQuery(context.target.query), 'query');
  const schema = route.narrowBody?.(json) ?? route.body ?? noBody;
  const body: Parsed<unknown> = schema === noBody && json === undefined ? nothing : parseWith(schema, json, 'body');
  const ifMatch = route.ifMatch ? readIfMatch(request) : none;
  const key = route.method === 'POST' ? readIdempotencyKey(request, route) : none;
  const actor = readsActor ? readVisible(request, 'X-Actor', maxActorLength) : none;
  if (query.ok && body.ok && ifMatch.ok && key.ok && actor.ok) {
    // Any text is a well-formed `Last-Event-ID`; the handler looks up the id.
    const lastEventId = route.streams === undefined ? null : (request.headersDistinct['last-event-id']?.join() ?? null);
    const headers = { ifMatch: ifMatch.value, lastEventId, idempotencyKey: key.value, onBehalfOf: actor.value };
    return { query: query.value, body: body.value, json, ...headers };
  }
  return invalid([query, body, ifMatch, key, actor].flatMap((part) => (part.ok ? [] : part.details)));
}

const maxKeyLength = 255;
const maxActorLength = 128;

const noParameters = z.strictObject({});
/** A route without a body accepts an empty object, for clients that always send JSON. */
const noBody = z.strictObject({}).optional();
const nothing = { ok: true, value: undefined } as const;
const none = { ok: true, value: null } as const;

type Parsed<Value> = { ok: true; value: Value } | { ok: false; details: ErrorDetail[] };

export function parseWith<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  location: 'query' | 'body',
): Parsed<z.output<Schema>> {
  const parsed = schema.safeParse(input, { error: (issue) => messageOf(issue as Issue) });
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, details: detailsOf(parsed.error.issues, location, input) };
}

function readIfMatch({ headers }: Request): Parsed<IfMatch | null> {
  const header = headers['if-match'];
  const value = header === undefined ? null : parseIfMatch(header);
  return value === undefined
    ? malformed('If-Match', 'must be * or a list of entity tags in quotes')
    : { ok: true, value };
}

function readIdempotencyKey<Access>(request: Request, route: Route<Access>): Parsed<string | null> {
  const key = readVisible(request, 'Idempotency-Key', maxKeyLength);
  const isAllowed = key === none || route.refusesIdempotencyKey !== true;
  return isAllowed ? key : malformed('Idempotency-Key', 'must be omitted');
}

/** Reads a header of visible ASCII characters, each line separately: a joined value would hide repeated lines. */
function readVisible({ headersDistinct }: Request, name: string, maxLength: number): Parsed<string | null> {
  const values = headersDistinct[name.toLowerCase()];
  if (values === undefined) return none;
  const [value = '', ...more] = values;
  const isValid = more.length === 0 && value.length <= maxLength && /^[\x21-\x7e]+$/.test(value);
  return isValid
    ? { ok: true, value }
    : malformed(name, `must be given once, with 1 to ${maxLength} visible ASCII characters`);
}

function malformed(path: string, message: string): Parsed<never> {
  return { ok: false, details: [{ location: 'header', path, code: 'invalid_format', message }] };
}

/**
 * Reads the body of a request. An empty body counts as no body, chunked or not, whatever its `Content-Type`.
 *
 * If the head shows the problem, refuses before reading the body. Otherwise refuses a wrong type at the first byte, and
 * a large body at the first byte over the limit.
 *
 * @returns the bytes, 415 for anything but uncompressed JSON in UTF-8, or 413 over the limit
 * @throws ClientGoneError when the client hangs up before the end
 */
async function readBody(request: Request, context: RequestContext, limitBytes: number): Promise<Buffer | Problem> {
  if (!announcesBody(request)) return Buffer.alloc(0);
  const wrongType = mediaTypeProblem(request);
  const refuse = (size: number) => (size > 0 ? wrongType : null) ?? (size > limitBytes ? tooLarge(limitBytes) : null);
  const refused = refuse(declaredLength(request));
  if (refused !== null) return refused;
  if (awaitsContinue(request)) request.res?.writeContinue();
  return collect(request, (size) => {
    context.bytesIn = size;
    return refuse(size);
  });
}

export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}

/** @param refuse called after each chunk with the bytes received so far */
function collect(request: IncomingMessage, refuse: (size: number) => Problem | null): Promise<Buffer | Problem> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // Every request emits `close`, so create the error only if needed: its stack trace costs a tenth of a small POST.
    const onGone = () => {
      if (!request.readableEnded) reject(new ClientGoneError());
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      const refused = refuse(size);
      if (refused === null) chunks.push(chunk);
      else resolve(refused);
    });
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    request.on('error', onGone);
    request.on('close', onGone);
  });
}

const jsonType = /^application\/json(?=[\s;]|$)/i;
const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i;

/** Refuses compressed bodies, because a small one could fill the memory when decompressed. */
function mediaTypeProblem(request: IncomingMessage): Problem | null {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return unsupported('Content-Encoding', 'must be omitted: compressed bodies are not supported');
  }
  const type = request.headers['content-type'] ?? '';
  const label = charset.exec(type)?.[1];
  const isUtf8 = label === undefined || /^utf-?8$/i.test(label);
  return jsonType.test(type) && isUtf8 ? null : unsupported('Content-Type', 'must be application/json in UTF-8');
}

function unsupported(path: string, message: string): Problem {
  return invalid([{ location: 'header', path, code: 'unsupported', message }], 'unsupported_media_type');
}

function tooLarge(limitBytes: number): Problem {
  const message = `must be at most ${limitBytes / 1_024} KiB`;
  return invalid([{ location: 'body', path: '', code: 'too_big', message }], 'payload_too_large');
}
