import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { type ErrorDetail, parseExactJson } from '@enterprise-api/shared/contracts';
import type { Request } from 'express';
import { z } from 'zod';
import { invalid, isProblem, type Problem } from '../problem.ts';
import type { Route } from '../routing/define-route.ts';
import { type IfMatch, parseIfMatch } from '../routing/etag.ts';
import { announcesBody, awaitsContinue, declaredLength, requestContextOf } from '../server/request-context.ts';
import { parseIdempotencyKey } from './idempotency-key.ts';
import { parseQuery } from './request-target.ts';
import { formatPath, type Parsed, parseWith } from './zod-issues.ts';

export interface BodyLimits {
  maxBytes: number;
  /** Objects and arrays inside each other; the outermost counts as 1. */
  maxDepth: number;
  maxKeys: number;
}

/** The parts of a request that its answer depends on, parsed. */
export interface Input {
  query: unknown;
  body: unknown;
  /** The body before its schema; undefined when there is none. */
  json: unknown;
  ifMatch: IfMatch | null;
  lastEventId: string | null;
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
    const lastEventId = route.streams === undefined ? null : lastEventIdOf(request);
    const headers = { ifMatch: ifMatch.value, lastEventId, idempotencyKey: key.value, onBehalfOf: actor.value };
    return { query: query.value, body: body.value, json, ...headers };
  }
  return invalid([query, body, ifMatch, key, actor].flatMap((part) => (part.ok ? [] : part.details)));
}

/** What it names is looked up: it cannot be malformed otherwise than by naming nothing. */
function lastEventIdOf(request: Request): string | null {
  const header = request.headers['last-event-id'];
  return header === undefined ? null : String(header);
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
  return parseJson(bytes, limits);
}

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
 * Parses JSON more strictly than `JSON.parse`: valid UTF-8 without a byte order mark, no name twice in an object (two
 * parsers would see two documents), bounded depth and number of names, no NUL and no lone surrogate, which PostgreSQL
 * would refuse. Long numbers stay as they were written. `__proto__` is a name like any other: `JSON.parse` makes it a
 * field of the object, and nothing behind it copies fields by assignment.
 */
export function parseJson(bytes: Buffer, limits: JsonLimits): { value: unknown } | Problem {
  if (!isUtf8(bytes)) return invalid([notJson], 'invalid_json');
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch {
    return invalid([notJson], 'invalid_json');
  }
  const flaw = findFlaw(text, limits);
  return flaw === null ? { value } : invalid([{ location: 'body', ...flaw, path: formatPath(flaw.path) }]);
}

const notJson: ErrorDetail = { location: 'body', path: '', code: 'invalid_json', message: 'is not valid JSON' };

type JsonLimits = Pick<BodyLimits, 'maxDepth' | 'maxKeys'>;
type Flaw = { path: (string | number)[]; code: string; message: string };

interface Container {
  /** Names seen so far; null in an array. */
  readonly keys: Set<string> | null;
  place: string | number;
}

const quote = 0x22;

/** Scans once over text that is known to be valid JSON. */
function findFlaw(text: string, limits: JsonLimits): Flaw | null {
  const stack: Container[] = [];
  let keyCount = 0;
  let awaitsKey = false;
  // Without an escape, valid UTF-8 holds neither NUL nor surrogates inside a JSON string.
  const mayBeUnstorable = text.includes('\\u');
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const top = stack.at(-1);
    if (code === quote) {
      const end = endOfString(text, at);
      const token = text.slice(at, end + 1);
      const isKey = awaitsKey && top?.keys != null;
      const flaw = stringFlaw(token, isKey ? top : undefined, mayBeUnstorable);
      if (flaw !== null) return { path: pathOf(stack, isKey ? 1 : 0, flaw.at), ...flaw.flaw };
      if (isKey && ++keyCount > limits.maxKeys) return { path: [], ...tooMany(limits) };
      if (isKey) awaitsKey = false;
      at = end;
    } else if (code === 0x7b || code === 0x5b) {
      if (stack.length >= limits.maxDepth) return { path: pathOf(stack, 0, null), ...tooDeep(limits) };
      awaitsKey = code === 0x7b;
      stack.push(awaitsKey ? { keys: new Set(), place: '' } : { keys: null, place: 0 });
    } else if (code === 0x7d || code === 0x5d) {
      stack.pop();
    } else if (code === 0x2c && top !== undefined) {
      if (top.keys === null) top.place = Number(top.place) + 1;
      else awaitsKey = true;
    }
  }
  return null;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
  return backslashes % 2 === 1;
}

/** Checks a string token. If it is a name, adds it to the names of its object. */
function stringFlaw(
  token: string,
  object: Container | undefined,
  mayBeUnstorable: boolean,
): { at: string | null; flaw: Omit<Flaw, 'path'> } | null {
  const plain = !token.includes('\\');
  if (object === undefined && (plain || !mayBeUnstorable)) return null;
  const text: string = plain ? token.slice(1, -1) : JSON.parse(token);
  if (!plain && (text.includes('\0') || !text.isWellFormed())) {
    const flaw = { code: 'invalid_text', message: 'must not contain NUL or lone surrogates' };
    return { at: object === undefined ? null : text, flaw };
  }
  if (object?.keys == null) return null;
  if (object.keys.has(text)) return { at: text, flaw: { code: 'duplicate_field', message: 'appears more than once' } };
  object.keys.add(text);
  object.place = text;
  return null;
}

function pathOf(stack: readonly Container[], dropped: number, last: string | null): (string | number)[] {
  const path = stack.slice(0, stack.length - dropped).map((container) => container.place);
  return last === null ? path : [...path, last.toWellFormed()];
}

const tooDeep = ({ maxDepth }: JsonLimits) => ({
  code: 'too_deep',
  message: `must not be nested deeper than ${maxDepth}`,
});
const tooMany = ({ maxKeys }: JsonLimits) => ({
  code: 'too_many_fields',
  message: `must not have more than ${maxKeys} fields in all`,
});

function readIfMatch({ headers }: Request): Parsed<IfMatch | null> {
  const header = headers['if-match'];
  const value = header === undefined ? null : parseIfMatch(header);
  return readHeader('If-Match', value, 'must be * or a list of entity tags in quotes');
}

function readIdempotencyKey({ headersDistinct }: Request): Parsed<string | null> {
  const key = parseIdempotencyKey(headersDistinct['idempotency-key']);
  return readHeader('Idempotency-Key', key, 'must be given once, with 1 to 255 visible ASCII characters');
}

function readActor({ headersDistinct }: Request): Parsed<string | null> {
  const [actor = null, ...more] = headersDistinct['x-actor'] ?? [];
  const isValid = more.length === 0 && (actor === null || /^[\x21-\x7e]{1,128}$/.test(actor));
  return readHeader(
    'X-Actor',
    isValid ? actor : undefined,
    'must be given once, with 1 to 128 visible ASCII characters',
  );
}

/** @param value undefined for a header that is malformed */
function readHeader<Value>(path: string, value: Value | undefined, message: string): Parsed<Value> {
  if (value !== undefined) return { ok: true, value };
  return { ok: false, details: [{ location: 'header', path, code: 'invalid_format', message }] };
}
