import type { IncomingMessage } from 'node:http';
import type { ErrorDetail, IdPrefix } from '@enterprise-api/shared/contracts';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import type { Request } from 'express';
import { z } from 'zod';
import { invalid, isProblem, type Problem } from '../../core/problem.ts';
import { parseIdempotencyKey } from '../../idempotency/idempotency-key.ts';
import type { Route } from '../routing/define-route.ts';
import { type IfMatch, parseIfMatch } from '../routing/etag.ts';
import { announcesBody, awaitsContinue, declaredLength, requestContextOf } from '../server/request-context.ts';
import { type JsonLimits, parseJson } from './parse-json.ts';
import { type Parsed, parseWith } from './zod-issues.ts';

export type BodyLimits = JsonLimits & { maxBytes: number };

/** The parts of a request that its answer depends on, parsed. */
export interface Input {
  query: unknown;
  body: unknown;
  /** The body before its schema; undefined when there is none. */
  json: unknown;
  ifMatch: IfMatch | null;
  idempotencyKey: string | null;
  /** `X-Actor`: on whose behalf an internal caller acts; null without the header, and on the public listener. */
  onBehalfOf: string | null;
}

/**
 * Reads the parts that a route declares: 415 and 413 for the body, then 400 with everything that is invalid.
 *
 * @param asks whether the route honours `Idempotency-Key`, and `X-Actor`
 */
export async function readInput<Access>(
  request: Request,
  route: Route<Access>,
  queryText: string,
  limits: BodyLimits,
  asks: { idempotencyKey: boolean; actor: boolean },
): Promise<Input | Problem> {
  const read = await readJson(request, limits);
  if (isProblem(read)) return read;
  const json = read.value;
  const query = parseWith(route.query ?? noParameters, parseQuery(queryText), 'query');
  const schema = route.narrowBody?.(json) ?? route.body ?? noBody;
  const body: Parsed<unknown> = schema === noBody && json === undefined ? nothing : parseWith(schema, json, 'body');
  const ifMatch = route.ifMatch ? readIfMatch(request) : none;
  const key = asks.idempotencyKey ? readIdempotencyKey(request) : none;
  const actor = asks.actor ? readActor(request) : none;
  if (query.ok && body.ok && ifMatch.ok && key.ok && actor.ok) {
    const headers = { ifMatch: ifMatch.value, idempotencyKey: key.value, onBehalfOf: actor.value };
    return { query: query.value, body: body.value, json, ...headers };
  }
  return invalid([query, body, ifMatch, key, actor].flatMap((part) => (part.ok ? [] : part.details)));
}

const noParameters = z.strictObject({});
/** A route without a body accepts an empty object, for clients that always send JSON. */
const noBody = z.strictObject({}).optional();
const nothing = { ok: true, value: undefined } as const;
const none = { ok: true, value: null } as const;

async function readJson(request: Request, limits: BodyLimits): Promise<{ value: unknown } | Problem> {
  const bytes = await readBody(request, limits.maxBytes);
  if (isProblem(bytes)) return bytes;
  if (bytes.length === 0) return { value: undefined };
  const parsed = parseJson(bytes, limits);
  if (parsed.ok) return { value: parsed.value };
  return parsed.code === 'invalid_json' ? invalid([notJson], 'invalid_json') : invalid([parsed.detail]);
}

const notJson: ErrorDetail = { location: 'body', path: '', code: 'invalid_json', message: 'is not valid JSON' };

/**
 * Reads the body of a request. An empty body is no body, chunked or not, whatever its `Content-Type`.
 *
 * @returns the bytes, none for an empty body; 415 for anything but uncompressed JSON in UTF-8, and 413 beyond the limit:
 *   by the head alone where it suffices, otherwise as soon as the first byte, or the first byte too many, arrives
 * @throws ClientGoneError when the client hangs up before the end
 */
async function readBody(request: Request, limitBytes: number): Promise<Buffer | Problem> {
  if (!announcesBody(request)) return Buffer.alloc(0);
  const wrongType = mediaTypeProblem(request);
  const length = declaredLength(request);
  if (wrongType !== null && length > 0) return wrongType;
  if (length > limitBytes) return tooLarge(limitBytes);
  if (awaitsContinue(request)) request.res?.writeContinue();
  const context = request.res && requestContextOf(request.res);
  return collect(request, (size) => {
    if (context !== undefined) context.bytesIn = size;
    return (size > 0 ? wrongType : null) ?? (size > limitBytes ? tooLarge(limitBytes) : null);
  });
}

/** The client hung up in the middle of its request: no answer can reach it. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}

/** @param refuse the problem of a body that is at least this long; asked for each chunk */
function collect(request: IncomingMessage, refuse: (size: number) => Problem | null): Promise<Buffer | Problem> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // Every request emits `close`. To make an error for each would cost a stack trace: a tenth of a small POST.
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

/** Bodies are not decompressed: a small one could fill the memory. */
function mediaTypeProblem(request: IncomingMessage): Problem | null {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return unsupported('Content-Encoding', 'must be left out: bodies are read uncompressed');
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
  const message = `must be at most ${limitBytes / 1024} KiB`;
  return invalid([{ location: 'body', path: '', code: 'too_big', message }], 'payload_too_large');
}

/**
 * Parses a query string into names and values: a string, or an array for a repeated name. The object has no prototype, so
 * that a parameter such as `constructor` is as unknown as any other.
 */
function parseQuery(query: string): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = Object.create(null);
  if (query === '') return values;
  for (const [name, value] of new URLSearchParams(query)) {
    const before = values[name];
    if (before === undefined) values[name] = value;
    else if (typeof before === 'string') values[name] = [before, value];
    else before.push(value);
  }
  return values;
}

function readIfMatch(request: Request): Parsed<IfMatch | null> {
  const header = request.headers['if-match'];
  const value = header === undefined ? null : parseIfMatch(header);
  if (value !== undefined) return { ok: true, value };
  return { ok: false, details: [wrongHeader('If-Match', 'must be * or a list of entity tags in quotes')] };
}

function readIdempotencyKey(request: Request): Parsed<string | null> {
  const value = parseIdempotencyKey(request.headersDistinct['idempotency-key']);
  if (value !== undefined) return { ok: true, value };
  const message = 'must be given once, with 1 to 255 visible ASCII characters';
  return { ok: false, details: [wrongHeader('Idempotency-Key', message)] };
}

function readActor(request: Request): Parsed<string | null> {
  const [actor = null, ...more] = request.headersDistinct['x-actor'] ?? [];
  const isValid = more.length === 0 && (actor === null || /^[\x21-\x7e]{1,128}$/.test(actor));
  if (isValid) return { ok: true, value: actor };
  return { ok: false, details: [wrongHeader('X-Actor', 'must be given once, with 1 to 128 visible ASCII characters')] };
}

function wrongHeader(path: string, message: string): ErrorDetail {
  return { location: 'header', path, code: 'invalid_format', message };
}

/** The internal ids behind the ids of the path, or null when one of them is malformed. */
export function resolveIds(
  kinds: Readonly<Record<string, IdPrefix>>,
  raw: Readonly<Record<string, string>>,
): Record<string, string> | null {
  const ids: Record<string, string> = {};
  for (const [name, prefix] of Object.entries(kinds)) {
    const uuid = fromPublicId(prefix, raw[name] ?? '');
    if (uuid === null) return null;
    ids[name] = uuid;
  }
  return ids;
}
