import type { Area } from '@enterprise-api/shared/contracts';
import type { Request, RequestHandler, Response } from 'express';
import type { WithDatabaseCheck } from '../../core/database-health.ts';
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
  const { access, route, render, requestId, traceparent, receivedAtMs } = call;
  const { idempotency, share } = options;
  const ids = resolveIds(route.ids, call.rawIds);
  const actor = route.caller === 'anyone' ? 'anyone' : options.actorOf(access);
  const abandon = new AbortController();
  const { signal } = abandon;
  const origin = { actor, onBehalfOf: input.onBehalfOf, requestId };
  const transact: Transact = (work) => options.transactAs(origin, signal)(work);
  const run = (transact: Transact) =>
    ids === null
      ? problem('not_found')
      : route.handle({ ...input, access, ids, transact, signal, requestId, traceparent, receivedAtMs });
  const checked = async <Result>(work: () => Result) => {
    // Routes without a caller, and those that need no database, are not bounded.
    const isBounded = share !== undefined && !route.withoutDatabase && route.caller !== 'anyone';
    const outcome = isBounded ? share.within(share.organizationOf(access), signal, work) : work();
    // A handler that answers at once needs no database, and no check of it.
    return outcome instanceof Promise ? await options.withDatabaseCheck(outcome, abandon) : outcome;
  };
  if (idempotency === undefined || input.idempotencyKey === null) return render(await checked(() => run(transact)));
  const once = idempotentRequest(call, ids, { ...input, idempotencyKey: input.idempotencyKey }, idempotency);
  const found = await checked(() => idempotency.runOnce(once, transact, run, render));
  return isProblem(found) ? render(found) : found;
}

function idempotentRequest<Access>(
  { target, access, route }: Call<Access>,
  ids: ReturnType<typeof resolveIds>,
  { json, idempotencyKey: key }: Input & { idempotencyKey: string },
  { ownerOf }: Idempotency<Access>,
): IdempotentRequest {
  return {
    ownerId: ownerOf(access),
    key,
    method: route.method,
    path: target.path,
    fingerprint: fingerprint(target.query, json),
    exists: async (trx) => ids !== null && ((await route.exists?.({ access, ids, trx })) ?? true),
  };
}

/** @throws for a POST whose object cannot be looked up when its `Idempotency-Key` was used with another body */
function requireExists<Access>(routes: readonly Route<Access>[]): void {
  for (const { method, path, ids, exists } of routes) {
    if (method !== 'POST' || Object.keys(ids).length === 0 || exists !== undefined) continue;
    throw new Error(`${method} ${path}: declare how to look up its object (exists).`);
  }
}
