import type { ErrorCode, IdPrefix, RequiredScope } from '@enterprise-api/shared/contracts';
import type { DatabaseTransaction } from '@enterprise-api/shared/ledger';
import type { PublicId, Uuid } from '@enterprise-api/shared/runtime';
import type { z } from 'zod';
import type { Transact } from '../../core/unit-of-work.ts';
import type { Tag } from '../../openapi/tags.ts';
import type { Problem } from '../problem.ts';
import type { IfMatch, Tagged } from './etag.ts';
import type { Streamed } from './streamed.ts';

/** The status of each kind of success. */
const statuses = { done: 200, created: 201, accepted: 202, empty: 204 } as const;
type Success = keyof typeof statuses;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a handler gets: the parsed request, and the caller. */
interface RouteInput<Access, Query, Body, Ids extends string> {
  readonly access: Access;
  /** UUIDs behind the ids of the path. */
  readonly ids: Readonly<Record<Ids, Uuid>>;
  readonly query: Query;
  readonly body: Body;
  /** `X-Request-Id` of the request and its answer. */
  readonly requestId: string;
  /** The trace that what the handler does belongs to (W3C's `traceparent`). */
  readonly traceparent: string | undefined;
  /** When the request arrived, by the monotonic clock; before it waited for other requests. */
  readonly receivedAtMs: number;
  /** The versions that the client names in `If-Match`, on routes with `ifMatch`; null without the header. */
  readonly ifMatch: IfMatch | null;
  /** `Last-Event-ID` as it was sent, on routes with `streams`; null without the header. */
  readonly lastEventId: string | null;
  /** `Idempotency-Key`; null without it. With it, all that the handler does belongs into its transaction. */
  readonly idempotencyKey: string | null;
  /**
   * Runs the transaction of the request. Handlers write through it alone, so that the answer to an `Idempotency-Key` is
   * stored in the transaction of its effect.
   */
  readonly transact: Transact;
  /** Aborted when the request is answered 503: work that has not begun by then never begins. */
  readonly signal: AbortSignal;
}

/** What a handler returns; a tagged answer is sent with its `ETag`. */
type Outcome<Answer> = Answer | Tagged<Answer> | Streamed | Problem;

/** What documents say of a route beyond what its schemas say. */
export interface RouteDescription {
  /** `createWebhook`: names the operation in OpenAPI, and so in generated clients. No two routes have the same. */
  readonly operationId: string;
  readonly tag: Tag;
  /** One line, without a full stop. */
  readonly summary: string;
  /** What the summary has no room for; Markdown. */
  readonly description?: string;
  /** The codes of errors that the handler returns. Those of the checks before it are known (`openapi/error-codes.ts`). */
  readonly errors?: readonly ErrorCode[];
}

/** A route as its feature declares it. */
export interface RouteDefinition<
  Access,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
  Ids extends string,
> extends RouteDescription {
  /** `GET /v1/webhooks/{id}` */
  endpoint: `${Method} /${string}`;
  /** The scope that the key needs; none on the internal listener, whose secret may do everything. */
  scope?: RequiredScope | null;
  /**
   * `anyone`: the route needs no key. Its handler gets no caller, so its `access` must not be read. `producer`: on the
   * internal listener, INTERNAL_EVENTS_SECRET opens the route as well.
   */
  caller?: 'authenticated' | 'anyone' | 'producer';
  /** The kind of id of each `{…}` in the path. A malformed id is 404 like an unknown one. */
  ids?: Readonly<Record<Ids, IdPrefix>>;
  /** Query parameters; none by default. Unknown and repeated parameters are refused. */
  query?: Query;
  /** The JSON body. A route without this schema accepts no body and an empty object. */
  body?: Body;
  /** For a body that is a union: the member that was meant, so that errors describe that member alone. */
  narrowBody?: (json: unknown) => z.ZodType;
  /**
   * Whether the object that the path names exists, without any other effect. Required of a POST with an id: a
   * reused `Idempotency-Key` is 404 for a missing object, and 422 otherwise.
   */
  exists?: (input: {
    access: Access;
    ids: RouteInput<Access, never, never, Ids>['ids'];
    trx: DatabaseTransaction;
  }) => Promise<boolean>;
  /** Whether the route honours `If-Match`. */
  ifMatch?: boolean;
  /** Whether its answers have an `ETag`: its handler then tags every one of them. */
  etag?: boolean;
  /**
   * Runs the requests of one organization one after the other, in this process. For routes that may hold one of the few
   * database connections for seconds.
   */
  serializedPerOrganization?: boolean;
  /**
   * The handler answers from what the process knows. It is not held back while other requests of its organization use all
   * the database connections that the organization may use.
   */
  withoutDatabase?: boolean;
  /** `done` by default, or `empty` without a response. */
  success?: Success;
  /** The media type of a success that is a stream: its handler returns a `Streamed`. */
  streams?: 'text/event-stream';
  /** The body of a success. Fields that this schema does not declare are removed. */
  response?: Answer;
  /** Path of the created resource. */
  location?: (answer: z.output<Answer>) => string;
  /** Public ids of the events that the request emitted, for its log line. */
  eventIds?: (answer: z.output<Answer>) => PublicId<'evt'>[];
  handle(
    input: RouteInput<Access, z.output<Query>, z.output<Body>, Ids>,
  ): Promise<Outcome<z.output<Answer>>> | Outcome<z.output<Answer>>;
}

type Erased<Access> = Readonly<RouteDefinition<Access, z.ZodType, z.ZodType, z.ZodType, string>>;

/** A route in the table. Its types were checked by `defineRoute`. */
export type Route<Access> = Erased<Access> &
  Required<Pick<Erased<Access>, 'errors' | 'scope' | 'caller' | 'ids' | 'success'>> & {
    readonly method: Method;
    readonly path: string;
    readonly status: number;
  };

/** Declares a route; the compiler checks its handler against its schemas. */
export function defineRoute<
  Access,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Answer extends z.ZodType = z.ZodUndefined,
  Ids extends string = never,
>(definition: RouteDefinition<Access, Query, Body, Answer, Ids>): Route<Access> {
  const { endpoint, response, streams, success = (response ?? streams) ? 'done' : 'empty' } = definition;
  const [method, path] = endpoint.split(' ');
  const usual = { errors: [], scope: null, caller: 'authenticated', ids: {} };
  return { ...usual, ...definition, method, path, success, status: statuses[success] } as unknown as Route<Access>;
}
