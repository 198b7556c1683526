import type { Request, RequestHandler, Response } from 'express';
import type { IsWanted, WithDatabaseCheck } from '../../core/database-health.ts';
import { createKeyedMutex, type KeyedMutex } from '../../core/keyed-mutex.ts';
import { isProblem, type Problem, problem } from '../../core/problem.ts';
import type { Transact, TransactAs } from '../../core/unit-of-work.ts';
import { fingerprint } from '../../idempotency/idempotency-key.ts';
import { type BodyLimits, type Input, readInput, resolveIds } from '../parsing/read-input.ts';
import { requestContextOf, targetOf } from '../server/request-context.ts';
import type { Route } from './define-route.ts';
import { isTagged } from './etag.ts';
import { type Answer, jsonAnswer, problemAnswer, sendAnswer, sendProblem } from './respond.ts';
import { createPicker, type Picker } from './response-shape.ts';
import type { RouteTable, Target } from './route-table.ts';

/** Authenticates and authorizes by the head of the request alone, before its body is read. */
export type Guard<Access> = (
  request: Request,
  response: Response,
  target: Target<Access>,
) => Promise<Access | Problem> | Access | Problem;

/** A request with an `Idempotency-Key`: it has its effect at most once, however often it is sent. */
export interface IdempotentRequest {
  /** UUID */
  organizationId: string;
  key: string;
  method: string;
  /** As the client wrote it; without the query. */
  path: string;
  fingerprint: Buffer;
  /** Whether its path names an object, which may not exist. */
  namesObject: boolean;
}

/** Runs the work of a request unless it was done before; the stored answer is then the answer. */
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
  /** The caller's name in the audit log. */
  actorOf: (access: Access) => string;
  transactAs: TransactAs;
  /** Honours `Idempotency-Key` on every POST. */
  idempotency?: { organizationOf: (access: Access) => string; runOnce: RunOnce };
  withDatabaseCheck: WithDatabaseCheck;
  /** Validates every answer against its schema (in tests) instead of only removing undeclared fields. */
  checkResponses: boolean;
}

/** The way of every request to its handler: guard → 405/404 → body, query, headers → ids → handler → answer. */
export function serveRoutes<Access extends object>(options: ServeOptions<Access>): RequestHandler {
  const { table, guard, checkResponses } = options;
  const renderers = new Map(table.routes.map((route) => [route, createRenderer(route, checkResponses)]));
  const runExclusive = createKeyedMutex();
  return async (request, response) => {
    const { path } = targetOf(request);
    const target = table.find(request.method, path);
    if (target.kind !== 'unknown')
      requestContextOf(response).route = target.kind === 'route' ? target.route.path : target.path;
    const access = await guard(request, response, target);
    if (isProblem(access)) return sendProblem(response, access);
    if (target.kind === 'unknown') return sendProblem(response, problem('not_found'));
    if (target.kind === 'other_method') {
      return sendProblem(response, problem('method_not_allowed', { headers: { Allow: target.allow } }));
    }
    const renderer = renderers.get(target.route) as Renderer;
    const render = (outcome: unknown) => renderer(response, outcome);
    const { requestId, startedAtMs: receivedAtMs } = requestContextOf(response);
    const call = { request, access, ...target, render, requestId, receivedAtMs, runExclusive };
    sendAnswer(response, await answer(call, options));
  };
}

/** A request whose route was found and whose caller may use it. */
interface Call<Access> {
  request: Request;
  access: Access;
  route: Route<Access>;
  rawIds: Readonly<Record<string, string>>;
  requestId: string;
  receivedAtMs: number;
  /** Turns what the handler returned into the answer. */
  render: (outcome: unknown) => Answer;
  runExclusive: KeyedMutex;
}

async function answer<Access>(call: Call<Access>, options: ServeOptions<Access>): Promise<Answer> {
  const { request, route, render, runExclusive } = call;
  const { idempotency } = options;
  const asks = { idempotencyKey: idempotency !== undefined && route.method === 'POST' };
  const input = await readInput(request, route, targetOf(request).query, options.body, asks);
  if (isProblem(input)) return render(input);
  const work = () => perform(call, input, options);
  return route.serializedPerOrganization
    ? runExclusive(`${route.path} ${idempotency?.organizationOf(call.access)}`, work)
    : work();
}

async function perform<Access>(call: Call<Access>, input: Input, options: ServeOptions<Access>): Promise<Answer> {
  const { request, access, route, render, requestId, receivedAtMs } = call;
  const { idempotency, withDatabaseCheck } = options;
  const { path, query } = targetOf(request);
  const ids = resolveIds(route.ids, call.rawIds);
  const origin = { actor: options.actorOf(access), requestId };
  const { idempotencyKey: key } = input;
  const run = (transact: Transact, isWanted: IsWanted) =>
    ids === null
      ? problem('not_found')
      : route.handle({ ...input, access, ids, transact, isWanted, requestId, receivedAtMs });
  if (idempotency === undefined || key === null) {
    // A handler that answers at once needs no database, and no check of it.
    let stillWanted: IsWanted = () => true;
    const isWanted = () => stillWanted();
    const outcome = run(options.transactAs(origin, isWanted), isWanted);
    if (!(outcome instanceof Promise)) return render(outcome);
    const checked = (asked: IsWanted) => {
      stillWanted = asked;
      return outcome;
    };
    return render(await withDatabaseCheck(checked));
  }
  const once: IdempotentRequest = {
    organizationId: idempotency.organizationOf(access),
    key,
    method: route.method,
    path,
    fingerprint: fingerprint(query, input.json),
    namesObject: Object.keys(route.ids).length > 0,
  };
  const found = await withDatabaseCheck((isWanted) =>
    idempotency.runOnce(once, options.transactAs(origin, isWanted), (transact) => run(transact, isWanted), render),
  );
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
    if (eventIds !== undefined) requestContextOf(response).eventIds = eventIds(shown);
    const headers = {
      ...(location !== undefined && { Location: location(shown) }),
      ...(isTagged(outcome) && { ETag: outcome.etag }),
    };
    return jsonAnswer(status, pick(shown), headers);
  };
}
