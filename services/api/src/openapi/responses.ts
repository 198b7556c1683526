import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorCatalogue, exampleId } from '@enterprise-api/shared/contracts';
import { problem } from '../http/problem.ts';
import { problemBody } from '../http/problem-answer.ts';
import { type JsonObject, type Listener, reference } from './types.ts';

/** Collects error responses: one component for each set of codes that share a status. */
export interface ErrorResponses {
  of(codes: readonly ErrorCode[], facts: HeaderFacts): Record<string, JsonObject>;
  readonly named: ReadonlyMap<string, JsonObject>;
}

/** Names of components with several codes. A component with one code has the code's name. */
const shortNames: Readonly<Record<string, string>> = {
  'validation_failed malformed_request': 'ValidationError',
  'validation_failed invalid_cursor malformed_request': 'ListValidationError',
  'invalid_json validation_failed malformed_request': 'BodyValidationError',
  'invalid_json validation_failed url_not_allowed malformed_request': 'WebhookValidationError',
  'ip_not_allowed plan_no_api_access forbidden_scope': 'Forbidden',
  'limit_reached idempotency_in_progress': 'LimitReachedOrInProgress',
  'conflict idempotency_in_progress': 'ConflictOrInProgress',
  'conflict limit_reached': 'ConflictOrLimitReached',
};

export function createErrorResponses(schema: JsonObject): ErrorResponses {
  const named = new Map<string, JsonObject>();
  return {
    named,
    of: (codes, facts) => {
      const byStatus = Map.groupBy(codes, (code) => errorCatalogue[code].status);
      const entries = [...byStatus].map(([status, some]) => {
        const name = (facts.isAuthenticated ? '' : 'Open') + nameOf(some);
        const headers = headersOf({ ...facts, codes: some });
        const content = { 'application/json': { schema, examples: examplesOf(some) } };
        named.set(name, { description: describe(some), headers, content, 'x-error-codes': some });
        return [status, reference('responses', name)] as const;
      });
      return Object.fromEntries(entries);
    },
  };
}

function nameOf(codes: readonly ErrorCode[]): string {
  const [only = '', ...others] = codes;
  const name = others.length === 0 ? pascal(only) : shortNames[codes.join(' ')];
  if (name === undefined) throw new Error(`OpenAPI: give the response with ${codes.join(', ')} a short name.`);
  return name;
}

export function headersOf(facts: HeaderFacts): JsonObject {
  return Object.fromEntries(headerNamesOf(facts).map((name) => [name, reference('headers', name)]));
}

export function errorExamples(codes: Iterable<ErrorCode>): Record<string, JsonObject> {
  const entries = [...codes].map((code) => [code, { value: exampleOf(code) as unknown as JsonObject }] as const);
  return Object.fromEntries(entries);
}

const moreOf: Partial<Record<ErrorCode, Parameters<typeof problem>[1]>> = {
  forbidden_scope: { requiredScope: 'webhooks:write' },
  rate_limited: { retryAfterSeconds: 1 },
  validation_failed: {
    message: 'events[1]: must be one of: consultation.completed, consultation.*, *.',
    param: 'events[1]',
    details: [
      {
        location: 'body',
        path: 'events[1]',
        code: 'invalid_value',
        message: 'must be one of: consultation.completed, consultation.*, *',
      },
    ],
  },
};

function exampleOf(code: ErrorCode) {
  return problemBody(problem(code, moreOf[code]), exampleId('req'));
}

function examplesOf(codes: readonly ErrorCode[]): JsonObject {
  return Object.fromEntries(codes.map((code) => [code, reference('examples', code)]));
}

function describe(codes: readonly ErrorCode[]): string {
  const [first] = codes;
  const title = STATUS_CODES[errorCatalogue[first as ErrorCode].status];
  const lines = codes.map((code) => `- \`${code}\`: ${errorCatalogue[code].message}`);
  return [`${title}.`, '', ...lines].join('\n');
}

/** `not_found` → `NotFound` */
function pascal(code: string): string {
  return code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };

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
  ETag: { description: 'The version of the object, for `If-Match` and `If-None-Match`.', schema: text },
  Location: { description: 'Path of the new object.', schema: text },
  'Last-Event-ID': {
    description:
      'The place where the stream begins. If the connection breaks before the first event, send it as `Last-Event-ID` (or `after`).',
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

export interface HeaderFacts {
  readonly listener: Listener;
  readonly codes?: readonly ErrorCode[];
  readonly isAuthenticated: boolean;
  /** Whether the request counts for the rate limit; true by default. */
  readonly isCounted?: boolean;
  readonly etag?: boolean | undefined;
  readonly location?: boolean;
  readonly idempotent?: boolean;
  readonly streams?: boolean;
}

function headerNamesOf({ listener, codes = [], isAuthenticated, isCounted = true, ...more }: HeaderFacts): string[] {
  const countsRequests = listener === 'public' && isAuthenticated && isCounted && !codes.includes('unauthorized');
  const isRefusal = codes.some((code) => /^(?:authentication|permission)_error$/.test(errorCatalogue[code].type));
  return [
    'X-Request-Id',
    ...(isAuthenticated ? ['Cache-Control'] : []),
    ...(countsRequests ? rateLimitHeaders : []),
    ...(codes.includes('rate_limited') || codes.includes('service_unavailable') ? ['Retry-After'] : []),
    ...(isRefusal ? ['WWW-Authenticate'] : []),
    ...(more.etag ? ['ETag'] : []),
    ...(more.location ? ['Location'] : []),
    ...(more.streams ? ['Last-Event-ID'] : []),
    ...(more.idempotent ? ['Idempotent-Replayed'] : []),
  ];
}
