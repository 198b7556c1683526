import type { JsonObject, Listener } from './types.ts';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };

/** Headers of answers, as components. */
export const headerComponents: Readonly<Record<string, JsonObject>> = {
  'X-Request-Id': {
    description: "The caller's own id of the request if it matches `[A-Za-z0-9._-]{1,128}`, else one of ours.",
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
  RateLimit: { description: 'What is left in this window: draft-ietf-httpapi-ratelimit-headers.', schema: text },
  'RateLimit-Policy': { description: 'How many requests a window allows, and its seconds.', schema: text },
  'X-RateLimit-Limit': { description: 'How many requests the organization may make in a window.', schema: count },
  'X-RateLimit-Remaining': { description: 'How many of them are left.', schema: count },
  'X-RateLimit-Reset': { description: 'When the window ends, in seconds since 1970.', schema: count },
  'Retry-After': { description: 'Seconds to wait before the next try.', required: true, schema: count },
  'WWW-Authenticate': { description: 'How to authenticate (RFC 6750).', schema: text },
  ETag: { description: 'The version of what is shown, for `If-Match` and `If-None-Match`.', schema: text },
  Location: { description: 'Path of what was created.', schema: text },
  'Last-Event-ID': {
    description:
      'Names the place where the stream begins: who reconnects before the first event sends it as `Last-Event-ID` (or `after`).',
    schema: text,
  },
  'Idempotent-Replayed': {
    description: 'Present on the stored answer to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Cache-Control': { description: 'Answers depend on the key: nothing may store them.', schema: text },
};

const rateLimitHeaders = [
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

/** What decides which headers an answer has. */
export interface HeaderFacts {
  readonly listener: Listener;
  readonly status: number | 'default';
  /** Whether the route needs a key or secret. */
  readonly isAuthenticated: boolean;
  readonly etag?: boolean;
  readonly location?: boolean;
  readonly idempotent?: boolean;
  readonly streams?: boolean;
}

/** The names of the headers that an answer has, or may have. */
export function headerNamesOf({ listener, status, isAuthenticated, ...more }: HeaderFacts): string[] {
  const countsRequests = listener === 'public' && isAuthenticated && status !== 401;
  return [
    'X-Request-Id',
    ...(isAuthenticated ? ['Cache-Control'] : []),
    ...(countsRequests ? rateLimitHeaders : []),
    ...(status === 429 || status === 503 ? ['Retry-After'] : []),
    ...(status === 401 || status === 403 ? ['WWW-Authenticate'] : []),
    ...(more.etag ? ['ETag'] : []),
    ...(more.location ? ['Location'] : []),
    ...(more.streams ? ['Last-Event-ID'] : []),
    ...(more.idempotent ? ['Idempotent-Replayed'] : []),
  ];
}
