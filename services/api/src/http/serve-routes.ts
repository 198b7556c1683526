import type { IdPrefix } from '@enterprise-api/shared/contracts';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import type { Route } from './define-route.ts';
import { invalid, isProblem, type Problem, problem } from './errors.ts';
import { exchangeOf, targetOf } from './exchange.ts';
import { type JsonLimits, parseJson } from './parse-json.ts';
import { parseQuery } from './query.ts';
import { readBody } from './read-body.ts';
import { sendJson, sendNothing, sendProblem } from './respond.ts';
import { createPicker, type Picker } from './response-shape.ts';
import type { RouteTable, Target } from './route-table.ts';
import { type Parsed, parseWith } from './zod-issues.ts';

/** Decides who is asking and whether they may, before anything of the request but its head is looked at. */
export type Guard<Access> = (
  request: Request,
  response: Response,
  target: Target<Access>,
) => Promise<Access | Problem> | Access | Problem;

export interface ServeOptions<Access> {
  table: RouteTable<Access>;
  guard: Guard<Access>;
  body: JsonLimits & { maxBytes: number };
  /** Runs a handler and gives up with an error when the database does not answer. */
  attend: <Result>(work: Promise<Result>) => Promise<Result>;
  /** Holds every answer to its schema (tests), instead of only stripping what is not declared. */
  checkResponses: boolean;
}

/** The one way from a request to its handler: guard → 405/404 → body, query → ids → handler → answer. */
export function serveRoutes<Access extends object>(options: ServeOptions<Access>): RequestHandler {
  const senders = new Map(options.table.routes.map((route) => [route, createSender(route, options.checkResponses)]));
  return async (request, response) => {
    const { path, query } = targetOf(request);
    const target = options.table.find(request.method, path);
    if (target.kind !== 'unknown')
      exchangeOf(response).route = target.kind === 'route' ? target.route.path : target.path;
    const access = await options.guard(request, response, target);
    if (isProblem(access)) return sendProblem(response, access);
    if (target.kind === 'unknown') return sendProblem(response, problem('not_found'));
    if (target.kind === 'other_method') {
      return sendProblem(response, problem('method_not_allowed', { headers: { Allow: target.allow } }));
    }
    const { route } = target;
    const input = await readInput(request, route, query, options.body);
    if (isProblem(input)) return sendProblem(response, input);
    const ids = resolveIds(route.ids, target.rawIds);
    if (ids === null) return sendProblem(response, problem('not_found'));
    const outcome = route.handle({ access, ids, ...input });
    const answer = outcome instanceof Promise ? await options.attend(outcome) : outcome;
    if (isProblem(answer)) return sendProblem(response, answer);
    senders.get(route)?.(response, answer);
  };
}

async function readInput<Access>(
  request: Request,
  route: Route<Access>,
  queryText: string,
  limits: JsonLimits & { maxBytes: number },
): Promise<{ query: unknown; body: unknown } | Problem> {
  const json = route.body === undefined ? undefined : await readJson(request, limits);
  if (isProblem(json)) return json;
  const query = parseWith(route.query ?? noParameters, parseQuery(queryText), 'query');
  const schema = route.narrowBody?.(json?.value) ?? route.body;
  const body: Parsed<unknown> =
    schema === undefined ? { ok: true, value: undefined } : parseWith(schema, json?.value, 'body');
  if (query.ok && body.ok) return { query: query.value, body: body.value };
  return invalid([...(query.ok ? [] : query.details), ...(body.ok ? [] : body.details)]);
}

const noParameters = z.strictObject({});

async function readJson(
  request: Request,
  limits: JsonLimits & { maxBytes: number },
): Promise<{ value: unknown } | Problem> {
  const bytes = await readBody(request, limits.maxBytes);
  if (isProblem(bytes)) return bytes;
  if (bytes.length === 0) return { value: undefined };
  const parsed = parseJson(bytes, limits);
  if (parsed.ok) return { value: parsed.value };
  return parsed.code === 'invalid_json' ? problem('invalid_json') : invalid([parsed.detail]);
}

/** UUIDs of the path's ids, or null when one of them cannot be the id of anything. */
function resolveIds(
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

type Sender = (response: Response, answer: unknown) => void;

function createSender<Access>(route: Route<Access>, check: boolean): Sender {
  const { response: schema, status, location } = route;
  if (schema === undefined) return sendNothing;
  const pick: Picker = check ? (answer) => schema.parse(answer) : createPicker(schema);
  return (response, answer) => {
    if (location !== undefined) response.setHeader('Location', location(answer));
    sendJson(response, status, pick(answer));
  };
}
