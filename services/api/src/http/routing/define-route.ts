import type { ErrorCode, IdPrefix, RouteScope } from '@enterprise-api/shared/contracts';
import type { DatabaseTransaction } from '@enterprise-api/shared/ledger';
import type { PublicId, Uuid } from '@enterprise-api/shared/runtime';
import type { z } from 'zod';
import type { Transact } from '../../core/unit-of-work.ts';
import type { Tag } from '../../openapi/tags.ts';
import type { Problem } from '../problem.ts';
import type { IfMatch, Tagged } from './etag.ts';
import type { Streamed } from './streamed.ts';

export const statuses = { done: 200, created: 201, accepted: 202, empty: 204 } as const;
type Success = keyof typeof statuses;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface RouteInput<Access, Query, Body, Ids extends string> {
  readonly access: Access;
  readonly ids: Readonly<Record<Ids, Uuid>>;
  readonly query: Query;
  readonly body: Body;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  /** Arrival time on the monotonic clock, before any queueing behind other requests. */
  readonly receivedAtMs: number;
  readonly ifMatch: IfMatch | null;
  readonly lastEventId: string | null;
  /** `Idempotency-Key`, or null. If present, the handler must do all its work in the request's transaction. */
  readonly idempotencyKey: string | null;
  /**
   * Runs the request's transaction. Handlers write only in this transaction, so it stores both the effect and the
   * answer for the `Idempotency-Key`.
   */
  readonly transact: Transact;
  /** Aborts when the request is answered with 503. The handler must then begin no further work. */
  readonly signal: AbortSignal;
}

type Outcome<Answer> = Answer | Tagged<Answer> | Streamed | Problem;

export interface RouteDescription {
  /** Unique, for example `createWebhook`. Names the operation in OpenAPI and generated clients. */
  readonly operationId: string;
  readonly tag: Tag;
  /** One line, without a full stop. */
  readonly summary: string;
  readonly description?: string;
  /** Error codes that the handler returns. `openapi/error-codes.ts` adds the codes of the checks before the handler. */
  readonly errors?: readonly ErrorCode[];
}

export interface RouteDefinition<
  Access,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
  Ids extends string,
  Done extends z.ZodType = Answer,
> extends RouteDescription {
  endpoint: `${Method} /${string}`;
  /** The scope that the key needs. The internal listener has no scopes: its secret may do everything. */
  scope?: RouteScope | null;
  /**
   * `anyone`: the route needs no key. Its handler has no caller and must not read `access`. `any_key`: any valid key is
   * enough; nothing else of the request is checked or counted. `producer`: on the internal listener,
   * INTERNAL_EVENTS_SECRET also opens the route.
   */
  caller?: 'authenticated' | 'anyone' | 'any_key' | 'producer';
  /** The kind of each `{…}` id in the path. A malformed id gets 404, as an unknown id does. */
  ids?: Readonly<Record<Ids, IdPrefix>>;
  /** Query parameters; default: none. Unknown and repeated parameters are refused. */
  query?: Query;
  /** The JSON body. Without this schema the route accepts no body or an empty object. */
  body?: Body;
  /** Maximum size of the body, if it differs from the listener's. */
  maxBodyBytes?: number;
  /** For a union body: picks the intended member, so that errors describe that member only. */
  narrowBody?: (json: unknown) => z.ZodType;
  /**
   * Looks up whether the object in the path exists, without any other effect. Required for a POST with an id. A reused
   * `Idempotency-Key` gets 404 if the object is missing, else 422.
   */
  exists?: (input: {
    access: Access;
    ids: RouteInput<Access, never, never, Ids>['ids'];
    trx: DatabaseTransaction;
  }) => Promise<boolean>;
  ifMatch?: boolean;
  /** Refuses an `Idempotency-Key` with 400: a stored answer would give its secret to whoever repeats the request. */
  refusesIdempotencyKey?: boolean;
  /** Whether a GET writes into the audit log, with `X-Actor`. Every other method does. */
  audited?: boolean;
  /** Whether answers have an `ETag`. The handler must then tag every answer. */
  etag?: boolean;
  /**
   * Runs the requests of one organization one at a time, in this process. Meant for routes that may hold one of the few
   * database connections for seconds.
   */
  serializedPerOrganization?: boolean;
  /**
   * The handler answers from memory. Its requests do not wait while other requests of the organization use all database
   * connections that the organization may use.
   */
  withoutDatabase?: boolean;
  /** Default: `done`, or `empty` without a `response` schema. */
  success?: Success;
  /** The media type of a streamed success; the handler returns a `Streamed`. */
  streams?: 'text/event-stream';
  response?: Answer;
  /** Whether an answer is 200 although `success` means another status. */
  isDone?: (answer: z.output<Answer> | z.output<Done>) => boolean;
  /** The schema of the answers for which `isDone` is true, if it differs from `response`. */
  doneResponse?: Done;
  location?: (answer: z.output<Answer>) => string;
  eventIds?: (answer: z.output<Answer>) => PublicId<'evt'>[];
  handle(
    input: RouteInput<Access, z.output<Query>, z.output<Body>, Ids>,
  ): Promise<Outcome<z.output<Answer> | z.output<Done>>> | Outcome<z.output<Answer> | z.output<Done>>;
}

type Erased<Access> = Readonly<RouteDefinition<Access, z.ZodType, z.ZodType, z.ZodType, string, z.ZodType>>;

export type Route<Access> = Erased<Access> &
  Required<Pick<Erased<Access>, 'errors' | 'scope' | 'caller' | 'ids' | 'success'>> & {
    readonly method: Method;
    readonly path: string;
    readonly status: number;
  };

export function defineRoute<
  Access,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Answer extends z.ZodType = z.ZodUndefined,
  Ids extends string = never,
  Done extends z.ZodType = Answer,
>(definition: RouteDefinition<Access, Query, Body, Answer, Ids, Done>): Route<Access> {
  const { endpoint, response, streams, success = (response ?? streams) ? 'done' : 'empty' } = definition;
  const [method, path] = endpoint.split(' ');
  const usual = { errors: [], scope: null, caller: 'authenticated', ids: {} };
  return { ...usual, ...definition, method, path, success, status: statuses[success] } as unknown as Route<Access>;
}
