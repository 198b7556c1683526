import type { ErrorDetail, IdPrefix } from '@enterprise-api/shared/contracts';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import type { Request } from 'express';
import { z } from 'zod';
import { invalid, isProblem, type Problem } from '../../core/problem.ts';
import { parseIdempotencyKey } from '../../idempotency/idempotency-key.ts';
import type { Route } from '../routing/define-route.ts';
import { type IfMatch, parseIfMatch } from '../routing/etag.ts';
import { type JsonLimits, parseJson } from './parse-json.ts';
import { parseQuery } from './query.ts';
import { readBody } from './read-body.ts';
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
}

/**
 * Reads the parts that a route declares: 415 and 413 for the body, then 400 with everything that is invalid.
 *
 * @param asks the headers that this route honours
 */
export async function readInput<Access>(
  request: Request,
  route: Route<Access>,
  queryText: string,
  limits: BodyLimits,
  asks: { idempotencyKey: boolean },
): Promise<Input | Problem> {
  const read = await readJson(request, limits);
  if (isProblem(read)) return read;
  const json = read.value;
  const query = parseWith(route.query ?? noParameters, parseQuery(queryText), 'query');
  const schema = route.narrowBody?.(json) ?? route.body ?? noBody;
  const body: Parsed<unknown> = schema === noBody && json === undefined ? nothing : parseWith(schema, json, 'body');
  const ifMatch = route.ifMatch ? readIfMatch(request) : none;
  const key = asks.idempotencyKey ? readIdempotencyKey(request) : none;
  if (query.ok && body.ok && ifMatch.ok && key.ok) {
    return { query: query.value, body: body.value, json, ifMatch: ifMatch.value, idempotencyKey: key.value };
  }
  return invalid([query, body, ifMatch, key].flatMap((part) => (part.ok ? [] : part.details)));
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
