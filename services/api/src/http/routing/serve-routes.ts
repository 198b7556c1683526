import type { Area } from '@enterprise-api/shared/contracts';
import type { Request, RequestHandler, Response } from 'express';
import type { IsWanted, WithDatabaseCheck } from '../../core/database-health.ts';
import { createKeyedMutex, type KeyedMutex } from '../../core/keyed-mutex.ts';
import { isProblem, type Problem, problem } from '../../core/problem.ts';
import type { Transact, TransactAs } from '../../core/unit-of-work.ts';
import { fingerprint } from '../../idempotency/idempotency-key.ts';
import type { IdempotentRequest, RunOnce } from '../../idempotency/run-once.ts';
import { type BodyLimits, type Input, readInput } from '../parsing/read-input.ts';
import type { RequestTarget } from '../parsing/request-target.ts';
import { forbidStorage, requestContextOf } from '../server/request-context.ts';
import type { Route } from './define-route.ts';
import { type Answer, createRenderer, type Renderer, sendAnswer, sendProblem } from './respond.ts';
import { existing, type Operation, type RouteTable, resolveIds } from './route-table.ts';

/** Authenticates and authorizes by the head of the request alone, before its body is read. */
export type Guard<Access> = (
  request: Request,
  response: Response,
  operation: Operation<Access>,
) => Promise<Access | Problem> | Access | Problem;

/** Passes requests on to the services that own areas. */
export interface AreaForwarder<Access> {
  /** The areas that have an upstream. */
  readonly areas: ReadonlySet<Area>;
  /** Answers a request that every check up to 405 has passed. */
  forward(request: Request, response: Response, granted: Access & { area: Area }): Promise<void> | void;
}

export interface ServeOptions<Access> {
  table: RouteTable<Access>;
  guard: Guard<Access>;
  /** Without it, no area has an upstream. */
  forwarder?: AreaForwarder<Access>;
  body: BodyLimits;
  /** The caller's name in the audit log. */
  actorOf: (access: Access) => string;
  /** Whether a caller may say with `X-Actor` on whose behalf it acts. */
  readsActor?: boolean;
  transactAs: TransactAs;
  /** Honours `Idempotency-Key` on every POST. */
  idempotency?: Idempotency<Access>;
  withDatabaseCheck: WithDatabaseCheck;
  /** Validates every answer against its schema (in tests) instead of only removing undeclared fields. */
  checkResponses: boolean;
}

interface Idempotency<Access> {
  /** UUID of the owner of the caller's keys. */
  ownerOf: (access: Access) => string;
  runOnce: RunOnce;
}

/** The way of every request to its handler: guard → 405/404 → body, query, headers → ids → handler → answer; or to its area. */
export function serveRoutes<Access extends object>(options: ServeOptions<Access>): RequestHandler {
  const { table, guard, forwarder, checkResponses } = options;
  if (options.idempotency !== undefined) requireExists(table.routes);
  const renderers = new Map(table.routes.map((route) => [route, createRenderer(route, checkResponses)]));
  const runExclusive = createKeyedMutex();
  return async (request, response) => {
    const context = requestContextOf(response);
    forbidStorage(response);
    const operation = table.find(request.method, context.target.path);
    if (operation.kind !== 'unknown')
      context.route = operation.kind === 'route' ? operation.route.path : operation.path;
    const isPublic = operation.kind === 'route' && operation.route.caller === 'anyone';
    const access = isPublic ? (anyone as Access) : await guard(request, response, operation);
    if (isProblem(access)) return sendProblem(response, access);
    const found = existing(operation);
    if (isProblem(found)) return sendProblem(response, found);
    if (found.kind === 'area') {
      if (!forwarder?.areas.has(found.area)) return sendProblem(response, problem('not_found'));
      return forwarder.forward(request, response, { ...access, area: found.area });
    }
    const renderer = renderers.get(found.route) as Renderer;
    const render = (outcome: unknown) => renderer(response, outcome);
    const { requestId, startedAtMs: receivedAtMs, target } = context;
    const call = { request, target, access, ...found, render, requestId, receivedAtMs, runExclusive };
    sendAnswer(response, await answer(call, options));
  };
}

/** The caller of a route that needs no key. */
const anyone = {};

/** A request whose route was found and whose caller may use it. */
interface Call<Access> {
  request: Request;
  target: RequestTarget;
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
  const { request, target, route, render, runExclusive } = call;
  const { idempotency } = options;
  const asks = {
    idempotencyKey: idempotency !== undefined && route.method === 'POST',
    actor: options.readsActor === true,
  };
  const input = await readInput(request, route, target.query, options.body, asks);
  if (isProblem(input)) return render(input);
  const work = () => perform(call, input, options);
  return route.serializedPerOrganization
    ? runExclusive(`${route.path} ${idempotency?.ownerOf(call.access)}`, work)
    : work();
}

async function perform<Access>(call: Call<Access>, input: Input, options: ServeOptions<Access>): Promise<Answer> {
  const { access, route, requestId, receivedAtMs } = call;
  const ids = resolveIds(route.ids, call.rawIds);
  const actor = route.caller === 'anyone' ? 'anyone' : options.actorOf(access);
  const origin = { actor, onBehalfOf: input.onBehalfOf, requestId };
  const attempt: Attempt<Access> = {
    call,
    ids,
    transactAs: (isWanted) => options.transactAs(origin, isWanted),
    run: (transact, isWanted) =>
      ids === null
        ? problem('not_found')
        : route.handle({ ...input, access, ids, transact, isWanted, requestId, receivedAtMs }),
  };
  const { idempotencyKey } = input;
  const { idempotency, withDatabaseCheck } = options;
  return idempotency === undefined || idempotencyKey === null
    ? runAlways(attempt, withDatabaseCheck)
    : runIdempotently(attempt, { ...input, idempotencyKey }, idempotency, withDatabaseCheck);
}

/** A call whose input was read: what its handler runs with. */
interface Attempt<Access> {
  call: Call<Access>;
  /** Null when one of the ids in the path is malformed. */
  ids: ReturnType<typeof resolveIds>;
  transactAs: (isWanted: IsWanted) => Transact;
  run: (transact: Transact, isWanted: IsWanted) => unknown;
}

async function runAlways<Access>(
  { call, transactAs, run }: Attempt<Access>,
  withDatabaseCheck: WithDatabaseCheck,
): Promise<Answer> {
  let stillWanted: IsWanted = () => true;
  const isWanted: IsWanted = (forMs) => stillWanted(forMs);
  const transact: Transact = (work) => transactAs(isWanted)(work);
  const outcome = run(transact, isWanted);
  // A handler that answers at once needs no database, and no check of it.
  if (!(outcome instanceof Promise)) return call.render(outcome);
  const checked = await withDatabaseCheck((asked) => {
    stillWanted = asked;
    return outcome;
  });
  return call.render(checked);
}

async function runIdempotently<Access>(
  { call, ids, transactAs, run }: Attempt<Access>,
  { json, idempotencyKey: key }: Input & { idempotencyKey: string },
  { ownerOf, runOnce }: Idempotency<Access>,
  withDatabaseCheck: WithDatabaseCheck,
): Promise<Answer> {
  const { target, access, route, render } = call;
  const once: IdempotentRequest = {
    ownerId: ownerOf(access),
    key,
    method: route.method,
    path: target.path,
    fingerprint: fingerprint(target.query, json),
    exists: async (trx) => ids !== null && ((await route.exists?.({ access, ids, trx })) ?? true),
  };
  const found = await withDatabaseCheck((isWanted) =>
    runOnce(once, transactAs(isWanted), (transact) => run(transact, isWanted), render),
  );
  return isProblem(found) ? render(found) : found;
}

/** @throws for a POST whose object cannot be looked up when its `Idempotency-Key` was used with another body */
function requireExists<Access>(routes: readonly Route<Access>[]): void {
  for (const { method, path, ids, exists } of routes) {
    if (method !== 'POST' || Object.keys(ids).length === 0 || exists !== undefined) continue;
    throw new Error(`${method} ${path}: declare how to look up its object (exists).`);
  }
}
