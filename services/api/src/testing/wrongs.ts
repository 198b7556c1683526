import type { ErrorCode } from '@enterprise-api/shared/contracts';
import type { Method, Route } from '../http/routing/define-route.ts';

/** The caller of a request: the state of its key, and of the organization of the key. */
export interface Caller {
  key: 'good' | 'none' | 'garbage' | 'unknown' | 'revoked' | 'expired';
  elsewhere: boolean;
  starter: boolean;
  overLimit: boolean;
  withoutScope: boolean;
}

/** What a request for a route is made of, before it is addressed and sent. */
export interface Draft {
  caller: Caller;
  method: string;
  id: 'known' | 'foreign' | 'malformed' | 'unknown';
  query: string;
  headers: Record<string, string>;
  /** The body: the route's valid one or a wrong one, then text that follows it. */
  body: { sent: boolean; unknownField: boolean; suffix: string; padding: boolean };
}

export interface Wrong {
  readonly name: string;
  readonly code: ErrorCode;
  /** Its place in the order of checks: of two errors, the one with the smaller stage is answered. */
  readonly stage: number;
  readonly applies: (route: AnyRoute) => boolean;
  readonly spoil: (draft: Draft) => void;
}

export type AnyRoute = Pick<
  Route<never>,
  'method' | 'path' | 'scope' | 'caller' | 'ids' | 'query' | 'body' | 'maxBodyBytes' | 'ifMatch' | 'streams'
>;

const always = () => true;
const hasId = (route: AnyRoute) => Object.keys(route.ids).length > 0;
const needsKey = ({ caller }: AnyRoute) => caller !== 'anyone';
const isPublic = (route: AnyRoute) => !route.path.startsWith('/internal/');
const needsMoreThanKey = (route: AnyRoute) => isPublic(route) && route.caller !== 'any_key';
const readsInput = (route: AnyRoute) => route.caller !== 'any_key';

const key = (kind: Caller['key'], applies = isPublic): Wrong => ({
  name: `${kind} key`,
  code: 'unauthorized',
  stage: 1,
  applies,
  spoil: ({ caller }) => {
    caller.key = kind;
  },
});

/** Everything that can be wrong with a request, in the order in which the API checks it. */
export const wrongs: readonly Wrong[] = [
  key('none', needsKey),
  key('garbage', needsKey),
  key('unknown'),
  key('revoked'),
  key('expired'),
  wrong('foreign address', 'ip_not_allowed', 2, needsMoreThanKey, ({ caller }) => {
    caller.elsewhere = true;
  }),
  wrong('starter plan', 'plan_no_api_access', 3, needsMoreThanKey, ({ caller }) => {
    caller.starter = true;
  }),
  wrong('over the limit', 'rate_limited', 4, needsMoreThanKey, ({ caller }) => {
    caller.overLimit = true;
  }),
  // Another method on a served path needs no scope: 405 is answered before the scope is checked.
  wrong('other method', 'method_not_allowed', 5, always, (draft) => {
    draft.method = 'PROPFIND' satisfies Exclude<string, Method>;
  }),
  wrong(
    'missing scope',
    'forbidden_scope',
    6,
    (route) => route.scope !== null,
    ({ caller }) => {
      caller.withoutScope = true;
    },
  ),
  wrong('wrong content type', 'unsupported_media_type', 7, readsInput, ({ headers, body }) => {
    body.sent = true;
    headers['Content-Type'] = 'text/plain';
  }),
  wrong('wrong charset', 'unsupported_media_type', 7, readsInput, ({ headers, body }) => {
    body.sent = true;
    headers['Content-Type'] = 'application/json; charset=latin1';
  }),
  wrong('compressed', 'unsupported_media_type', 7, readsInput, ({ headers, body }) => {
    body.sent = true;
    headers['Content-Encoding'] = 'gzip';
  }),
  wrong('too large', 'payload_too_large', 8, readsInput, ({ body }) => {
    body.sent = true;
    body.padding = true;
  }),
  wrong('bad JSON', 'invalid_json', 9, readsInput, ({ body }) => {
    body.sent = true;
    body.suffix = '}';
  }),
  wrong('unknown field', 'validation_failed', 10, readsInput, ({ body }) => {
    body.sent = true;
    body.unknownField = true;
  }),
  wrong('unknown query parameter', 'validation_failed', 10, readsInput, (draft) => {
    draft.query = 'nonsense=1';
  }),
  wrong('malformed id', 'not_found', 11, hasId, (draft) => {
    draft.id = 'malformed';
  }),
  wrong('unknown id', 'not_found', 11, hasId, (draft) => {
    draft.id = 'unknown';
  }),
  wrong(
    'foreign id',
    'not_found',
    11,
    (route) => hasId(route) && isPublic(route),
    (draft) => {
      draft.id = 'foreign';
    },
  ),
  wrong(
    'stale If-Match',
    'precondition_failed',
    12,
    ({ ifMatch }) => ifMatch === true,
    ({ headers }) => {
      headers['If-Match'] = '"999"';
    },
  ),
];

function wrong(name: string, code: ErrorCode, stage: number, applies: Wrong['applies'], spoil: Wrong['spoil']): Wrong {
  return { name, code, stage, applies, spoil };
}
