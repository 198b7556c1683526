import type { Area } from '@enterprise-api/shared/contracts';
import type { Request, RequestHandler, Response } from 'express';
import type { IsWanted, WithDatabaseCheck } from '../../core/database-health.ts';
import type { WithinDatabaseShare } from '../../core/database-share.ts';
import type { Transact, TransactAs } from '../../core/unit-of-work.ts';
import type { IdempotentRequest, RunOnce } from '../../idempotency/run-once.ts';
import { fingerprint } from '../parsing/idempotency-key.ts';
import { type BodyLimits, type Input, readInput } from '../parsing/read-input.ts';
import type { RequestTarget } from '../parsing/request-target.ts';
import { isProblem, type Problem, problem } from '../problem.ts';
import { forbidStorage, requestContextOf } from '../server/request-context.ts';
import type { Route } from './define-route.ts';
import { createKeyedMutex, type KeyedMutex } from './keyed-mutex.ts';
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
  /** Bounds the database connections of each organization. */
  share?: DatabaseShare<Access>;
  /** Validates every answer against its schema (in tests) instead of only removing undeclared fields. */
  checkResponses: boolean;
}

interface DatabaseShare<Access> {
  /** UUID of the caller's organization. */
  organizationOf: (access: Access) => string;
  within: WithinDatabaseShare;
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
    const { requestId, traceparent, startedAtMs: receivedAtMs, target } = context;
    const call = { request, target, access, ...found, render, requestId, traceparent, receivedAtMs, runExclusive };
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
  traceparent: string | undefined;
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
  const { access, route, requestId, traceparent, receivedAtMs } = call;
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
        : route.handle({ ...input, access, ids, transact, isWanted, requestId, traceparent, receivedAtMs }),
    within: withinShareOf(call, options.share),
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
  /** Runs work within the caller's share of the database. */
  within: WithinShare;
}

type WithinShare = <Result>(isWanted: IsWanted, work: () => Result) => Result | Promise<Awaited<Result> | Problem>;

/** Routes without a caller, and those that need no database, take no part. */
function withinShareOf<Access>({ route, access }: Call<Access>, share: DatabaseShare<Access> | undefined): WithinShare {
  if (share === undefined || route.withoutDatabase || route.caller === 'anyone') return (_isWanted, work) => work();
  const organizationId = share.organizationOf(access);
  return (isWanted, work) => share.within(organizationId, isWanted, work);
}

async function runAlways<Access>(
  { call, transactAs, run, within }: Attempt<Access>,
  withDatabaseCheck: WithDatabaseCheck,
): Promise<Answer> {
  let stillWanted: IsWanted = () => true;
  const isWanted: IsWanted = (forMs) => stillWanted(forMs);
  const transact: Transact = (work) => transactAs(isWanted)(work);
  const outcome = within(isWanted, () => run(transact, isWanted));
  // A handler that answers at once needs no database, and no check of it.
  if (!(outcome instanceof Promise)) return call.render(outcome);
  const checked = await withDatabaseCheck((asked) => {
    stillWanted = asked;
    return outcome;
  });
  return call.render(checked);
}

async function runIdempotently<Access>(
  { call, ids, transactAs, run, within }: Attempt<Access>,
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
  const found = await withDatabaseCheck(async (isWanted) =>
    within(isWanted, () => runOnce(once, transactAs(isWanted), (transact) => run(transact, isWanted), render)),
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
