import type { IdPrefix, RequiredScope } from '@enterprise-api/shared/contracts';
import type { PublicId, Uuid } from '@enterprise-api/shared/runtime';
import type { z } from 'zod';
import type { Problem } from '../../core/problem.ts';
import type { Transact } from '../../core/unit-of-work.ts';
import type { IfMatch, Tagged } from './etag.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a handler gets: everything parsed, and who is asking. */
interface RouteInput<Access, Query, Body, Ids extends string> {
  readonly access: Access;
  /** UUIDs behind the ids of the path. */
  readonly ids: Readonly<Record<Ids, Uuid>>;
  readonly query: Query;
  readonly body: Body;
  /** `X-Request-Id` of the request and its answer. */
  readonly requestId: string;
  /** When the request came, by the monotonic clock: before it waited for its turn. */
  readonly receivedAtMs: number;
  /** What the client has seen of what it changes, on routes with `ifMatch`; null when it does not say. */
  readonly ifMatch: IfMatch | null;
  /**
   * Changes something, in the caller's name. A handler that writes, writes through this: it is what makes a request
   * with an `Idempotency-Key` and its answer one thing.
   */
  readonly transact: Transact;
}

/** What a handler gives back; a tagged answer is sent with its `ETag`. */
type Outcome<Answer> = Answer | Tagged<Answer> | Problem;

/** A route as its feature writes it down. */
export interface RouteDefinition<
  Access,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
  Ids extends string,
> {
  method: Method;
  /** `/v1/webhooks/{id}` */
  path: string;
  summary: string;
  /** What the key must be allowed to do; null on the internal listener, whose secret may do everything. */
  scope: RequiredScope | null;
  /** The kind of id of each `{…}` in the path. A malformed one is 404 like an unknown one. */
  ids?: Readonly<Record<Ids, IdPrefix>>;
  /** Query parameters; none when left out. Unknown and repeated ones are refused. */
  query?: Query;
  /** The JSON body. Without it, none is asked for, and what comes all the same may only be an empty object. */
  body?: Body;
  /** Of a body that is a union: which member it is meant to be, so that problems speak of that one alone. */
  narrowBody?: (json: unknown) => z.ZodType;
  /** Whether `If-Match` counts. */
  ifMatch?: boolean;
  /**
   * Whether an organization's requests to it are worked on one after the other, in this process: each may keep a
   * connection to the database for seconds, and there are few.
   */
  inTurn?: boolean;
  /** Status of success; 204 answers without a body. */
  status: 200 | 201 | 202 | 204;
  /** What is sent on success: fields that it does not declare never leave the process. */
  response?: Answer;
  /** Where the thing that was made can be read. */
  location?: (answer: z.output<Answer>) => string;
  /** Ids of the events that it emitted: the request's log line tells them. */
  eventIds?: (answer: z.output<Answer>) => PublicId<'evt'>[];
  handle(
    input: RouteInput<Access, z.output<Query>, z.output<Body>, Ids>,
  ): Promise<Outcome<z.output<Answer>>> | Outcome<z.output<Answer>>;
}

/** A route as the table holds it, its types checked where it was defined. */
export interface Route<Access> {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly scope: RequiredScope | null;
  readonly ids: Readonly<Record<string, IdPrefix>>;
  readonly query: z.ZodType | undefined;
  readonly body: z.ZodType | undefined;
  readonly narrowBody: ((json: unknown) => z.ZodType) | undefined;
  readonly ifMatch: boolean;
  readonly inTurn: boolean;
  readonly status: 200 | 201 | 202 | 204;
  readonly response: z.ZodType | undefined;
  readonly location: ((answer: unknown) => string) | undefined;
  readonly eventIds: ((answer: unknown) => PublicId<'evt'>[]) | undefined;
  readonly handle: (input: RouteInput<Access, unknown, unknown, string>) => unknown;
}

/** Declares a route; the compiler holds its handler to its schemas. */
export function defineRoute<
  Access,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Answer extends z.ZodType = z.ZodUndefined,
  Ids extends string = never,
>(definition: RouteDefinition<Access, Query, Body, Answer, Ids>): Route<Access> {
  const { method, path, summary, scope, status } = definition;
  return {
    method,
    path,
    summary,
    scope,
    status,
    ids: definition.ids ?? {},
    query: definition.query,
    body: definition.body,
    narrowBody: definition.narrowBody,
    ifMatch: definition.ifMatch ?? false,
    inTurn: definition.inTurn ?? false,
    response: definition.response,
    location: definition.location as Route<Access>['location'],
    eventIds: definition.eventIds as Route<Access>['eventIds'],
    handle: definition.handle as Route<Access>['handle'],
  };
}
