import type { Area } from '@enterprise-api/shared/contracts';
import type { DatabaseTransaction } from '@enterprise-api/shared/ledger';
import type { Request, RequestHandler, Response } from 'express';
import { untilAborted, type WithDatabaseCheck } from '../../core/database-health.ts';
import type { WithinDatabaseShare } from '../../core/database-share.ts';
import type { Transact, TransactAs } from '../../core/unit-of-work.ts';
import type { IdempotentRequest, RunOnce } from '../../idempotency/run-once.ts';
import { type BodyLimits, type Input, noInput, readInput } from '../parsing/read-input.ts';
import { isProblem, type Problem, problem } from '../problem.ts';
import { forbidStorage, type RequestContext, requestContextOf } from '../server/request-context.ts';
import type { Route } from './define-route.ts';
import { createKeyedMutex } from './keyed-mutex.ts';
import { type Answer, createRenderer, type Renderer, sendAnswer, sendProblem } from './respond.ts';
import { existing, type Operation, type RouteTable, resolveIds } from './route-table.ts';

/** Authenticates and authorizes by the head alone, before the body is read. */
export type Guard<Access> = (
  request: Request,
  response: Response,
  operation: Operation<Access>,
) => Promise<Access | Problem> | Access | Problem;

export interface AreaForwarder<Access> {
  readonly areas: ReadonlySet<Area>;
  forward(request: Request, response: Response, granted: Access & { area: Area }): Promise<void> | void;
}

export interface ServeOptions<Access> {
  table: RouteTable<Access>;
  guard: Guard<Access>;
  forwarder?: AreaForwarder<Access>;
  body: BodyLimits;
  actorOf: (access: Access) => string;
  readsActor: boolean;
  /** Owner of the `Idempotency-Key`s: the organization's UUID, or the id of an internal caller's secret. */
  ownerOf: (access: Access) => string;
  transactAs: TransactAs;
  runOnce: RunOnce;
  withDatabaseCheck: WithDatabaseCheck;
  within?: WithinDatabaseShare;
  /** In tests: validates every answer against its schema. */
  checkResponses: boolean;
}

/** Guard → 405/404 → body, query, headers → ids → handler → answer. Passes requests for an area on to that area. */
export function serveRoutes<Access extends object>(options: ServeOptions<Access>): RequestHandler {
  const { table, guard, forwarder, checkResponses } = options;
  requireExists(table.routes);
  const renderers = new Map(table.routes.map((route) => [route, createRenderer(route, checkResponses)]));
  const runExclusive = createKeyedMutex();
  return async (request, response) => {
    const context = requestContextOf(response);
    forbidStorage(response);
    const operation = table.find(request.method, context.target.path);
    if (operation.kind !== 'unknown') {
      context.route = operation.kind === 'route' ? operation.route.path : operation.path;
    }
    const isPublic = operation.kind === 'route' && operation.route.caller === 'anyone';
    const access = isPublic ? (anyone as Access) : await guard(request, response, operation);
    if (isProblem(access)) return sendProblem(response, access);
    const found = existing(operation);
    if (isProblem(found)) return sendProblem(response, found);
    if (found.kind === 'area') {
      if (!forwarder?.areas.has(found.area)) return sendProblem(response, problem('not_found'));
      return forwarder.forward(request, response, { ...access, area: found.area });
    }
    const { route, rawIds } = found;
    const input = route.caller === 'any_key' ? noInput : await readInput(request, context, route, options);
    if (isProblem(input)) return sendProblem(response, input);
    const renderer = renderers.get(route) as Renderer;
    const call = { context, access, route, ids: resolveIds(route.ids, rawIds), input };
    const work = () => perform(call, (outcome) => renderer(response, outcome), options);
    const answer = route.serializedPerOrganization
      ? runExclusive(`${route.path} ${options.ownerOf(access)}`, work)
      : work();
    sendAnswer(response, await answer);
  };
}

const anyone = {};

/** `ids` is null if an id in the path is malformed. */
interface Call<Access> {
  context: RequestContext;
  access: Access;
  route: Route<Access>;
  ids: Record<string, string> | null;
  input: Input;
}

async function perform<Access>(
  call: Call<Access>,
  render: (outcome: unknown) => Answer,
  options: ServeOptions<Access>,
): Promise<Answer> {
  const { context, access, route, ids, input } = call;
  const { withDatabaseCheck, within, ownerOf } = options;
  const { requestId, traceparent, startedAtMs: receivedAtMs } = context;
  const { idempotencyKey: key, onBehalfOf } = input;
  const abandon = new AbortController();
  const { signal } = abandon;
  const transact: Transact = (work) =>
    options.transactAs({ actor: options.actorOf(access), onBehalfOf, requestId })(work);
  const handle = (transact: Transact) =>
    ids === null
      ? problem('not_found')
      : route.handle({ ...input, access, ids, transact, signal, requestId, traceparent, receivedAtMs });
  const work = () =>
    key === null
      ? handle(transact)
      : options.runOnce(idempotentRequest(call, ownerOf(access), key), transact, handle, render);
  // The limit per owner does not apply to routes that need no database, or that anyone or any key may call.
  const isBounded = within !== undefined && !route.withoutDatabase && route.caller === 'authenticated';
  const started = untilAborted(signal, () => (isBounded ? within(ownerOf(access), work) : work()));
  // A synchronous handler uses no database, so no database check is needed.
  const outcome = started instanceof Promise ? await withDatabaseCheck(started, abandon) : started;
  return key === null || isProblem(outcome) ? render(outcome) : (outcome as Answer);
}

function idempotentRequest<Access>(
  { context: { target }, access, route, ids, input }: Call<Access>,
  ownerId: string,
  key: string,
): IdempotentRequest {
  const exists = async (trx: DatabaseTransaction) =>
    ids !== null && ((await route.exists?.({ access, ids, trx })) ?? true);
  const { method } = route;
  return { ownerId, key, method, path: target.path, query: target.query, json: input.json, exists };
}

/** @throws for a POST with ids but without `exists`, which a reused `Idempotency-Key` needs */
function requireExists<Access>(routes: readonly Route<Access>[]): void {
  for (const { method, path, ids, exists } of routes) {
    if (method !== 'POST' || Object.keys(ids).length === 0 || exists !== undefined) continue;
    throw new Error(`${method} ${path}: declare how to look up its object (exists).`);
  }
}
