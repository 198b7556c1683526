import type { Request, RequestHandler, Response } from 'express';
import { createTurns } from '../../core/keyed-mutex.ts';
import { isProblem, type Problem, problem } from '../../core/problem.ts';
import type { Origin, Transact } from '../../core/unit-of-work.ts';
import { fingerprint } from '../../idempotency/idempotency-key.ts';
import { type BodyLimits, type Input, readInput, resolveIds } from '../parsing/read-input.ts';
import { exchangeOf, targetOf } from '../server/request-context.ts';
import type { Route } from './define-route.ts';
import { isTagged } from './etag.ts';
import { type Answer, jsonAnswer, problemAnswer, sendAnswer, sendProblem } from './respond.ts';
import { createPicker, type Picker } from './response-shape.ts';
import type { RouteTable, Target } from './route-table.ts';

/** Decides who is asking and whether they may, before anything of the request but its head is looked at. */
export type Guard<Access> = (
  request: Request,
  response: Response,
  target: Target<Access>,
) => Promise<Access | Problem> | Access | Problem;

/** A request that has an effect at most once, however often it is sent. */
export interface IdempotentRequest {
  /** UUID */
  organizationId: string;
  key: string;
  method: string;
  /** As the client wrote it; without the query. */
  path: string;
  fingerprint: Buffer;
  /** Whether its path names something that may not be there. */
  namesObject: boolean;
}

/** Runs a request's work unless that was done before: then what it was answered is the answer. */
export type RunOnce = (
  request: IdempotentRequest,
  transact: Transact,
  run: (transact: Transact) => unknown,
  render: (outcome: unknown) => Answer,
) => Promise<Answer | Problem>;

export interface ServeOptions<Access> {
  table: RouteTable<Access>;
  guard: Guard<Access>;
  body: BodyLimits;
  /** Who the audit log names for what a caller changes. */
  actorOf: (access: Access) => string;
  transactAs: (origin: Origin) => Transact;
  /** Makes `Idempotency-Key` count on every POST. */
  idempotency?: { organizationOf: (access: Access) => string; runOnce: RunOnce };
  /** Runs a handler and gives up with an error when the database does not answer. */
  attend: <Result>(work: Promise<Result>) => Promise<Result>;
  /** Holds every answer to its schema (tests), instead of only stripping what is not declared. */
  checkResponses: boolean;
}

/** The one way from a request to its handler: guard → 405/404 → body, query, headers → ids → handler → answer. */
export function serveRoutes<Access extends object>(options: ServeOptions<Access>): RequestHandler {
  const { table, guard, checkResponses } = options;
  const renderers = new Map(table.routes.map((route) => [route, createRenderer(route, checkResponses)]));
  const takeTurn = createTurns();
  return async (request, response) => {
    const { path } = targetOf(request);
    const target = table.find(request.method, path);
    if (target.kind !== 'unknown')
      exchangeOf(response).route = target.kind === 'route' ? target.route.path : target.path;
    const access = await guard(request, response, target);
    if (isProblem(access)) return sendProblem(response, access);
    if (target.kind === 'unknown') return sendProblem(response, problem('not_found'));
    if (target.kind === 'other_method') {
      return sendProblem(response, problem('method_not_allowed', { headers: { Allow: target.allow } }));
    }
    const renderer = renderers.get(target.route) as Renderer;
    const render = (outcome: unknown) => renderer(response, outcome);
    const { requestId, startedAtMs: receivedAtMs } = exchangeOf(response);
    const call = { request, access, ...target, render, requestId, receivedAtMs, takeTurn };
    sendAnswer(response, await answer(call, options));
  };
}

/** A request that has found its route and may use it. */
interface Call<Access> {
  request: Request;
  access: Access;
  route: Route<Access>;
  rawIds: Readonly<Record<string, string>>;
  requestId: string;
  receivedAtMs: number;
  /** Makes the answer of what the handler gave back. */
  render: (outcome: unknown) => Answer;
  takeTurn: ReturnType<typeof createTurns>;
}

async function answer<Access>(call: Call<Access>, options: ServeOptions<Access>): Promise<Answer> {
  const { request, route, render, takeTurn } = call;
  const { idempotency } = options;
  const asks = { idempotencyKey: idempotency !== undefined && route.method === 'POST' };
  const input = await readInput(request, route, targetOf(request).query, options.body, asks);
  if (isProblem(input)) return render(input);
  const work = () => perform(call, input, options);
  return route.inTurn ? takeTurn(`${route.path} ${idempotency?.organizationOf(call.access)}`, work) : work();
}

async function perform<Access>(call: Call<Access>, input: Input, options: ServeOptions<Access>): Promise<Answer> {
  const { request, access, route, render, requestId, receivedAtMs } = call;
  const { idempotency, attend } = options;
  const { path, query } = targetOf(request);
  const ids = resolveIds(route.ids, call.rawIds);
  const run = (transact: Transact) =>
    ids === null ? problem('not_found') : route.handle({ ...input, access, ids, transact, requestId, receivedAtMs });
  const transact = options.transactAs({ actor: options.actorOf(access), requestId });
  const { idempotencyKey: key } = input;
  if (idempotency === undefined || key === null) {
    const outcome = run(transact);
    return render(outcome instanceof Promise ? await attend(outcome) : outcome);
  }
  const once: IdempotentRequest = {
    organizationId: idempotency.organizationOf(access),
    key,
    method: route.method,
    path,
    fingerprint: fingerprint(query, input.json),
    namesObject: Object.keys(route.ids).length > 0,
  };
  const found = await attend(idempotency.runOnce(once, transact, run, render));
  return isProblem(found) ? render(found) : found;
}

type Renderer = (response: Response, outcome: unknown) => Answer;

function createRenderer<Access>(route: Route<Access>, check: boolean): Renderer {
  const { response: schema, status, location, eventIds } = route;
  if (schema === undefined) {
    return (response, outcome) =>
      isProblem(outcome) ? problemAnswer(response, outcome) : { status, headers: {}, body: null };
  }
  const pick: Picker = check ? (shown) => schema.parse(shown) : createPicker(schema);
  return (response, outcome) => {
    if (isProblem(outcome)) return problemAnswer(response, outcome);
    const shown = isTagged(outcome) ? outcome.tagged : outcome;
    if (eventIds !== undefined) exchangeOf(response).eventIds = eventIds(shown);
    const headers = {
      ...(location !== undefined && { Location: location(shown) }),
      ...(isTagged(outcome) && { ETag: outcome.etag }),
    };
    return jsonAnswer(status, pick(shown), headers);
  };
}
