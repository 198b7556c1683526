import { type ErrorCode, errorCatalogue } from '@enterprise-api/shared/contracts';
import type { Route } from '../http/routing/define-route.ts';
import type { Listener } from './types.ts';

/** Properties that determine a route's errors, in addition to its handler. */
export type CheckedRoute = Pick<
  Route<never>,
  'method' | 'path' | 'scope' | 'caller' | 'ids' | 'query' | 'ifMatch' | 'refusesIdempotencyKey' | 'errors'
>;

const keyChecks = ['unauthorized', 'ip_not_allowed', 'plan_no_api_access', 'rate_limited'] as const;

export function isIdempotent(route: Pick<CheckedRoute, 'method' | 'refusesIdempotencyKey'>): boolean {
  return route.method === 'POST' && route.refusesIdempotencyKey !== true;
}

export function errorCodesOf(route: CheckedRoute, listener: Listener): ErrorCode[] {
  const found = new Set<ErrorCode>([
    ...(route.caller === 'anyone' ? [] : checksOfCaller(route, listener)),
    ...(route.caller === 'any_key' ? (['malformed_request'] as const) : checksOfInput(route)),
    ...route.errors,
    'internal_error',
    'service_unavailable',
  ]);
  return inOrder(found);
}

function checksOfCaller({ scope, caller }: CheckedRoute, listener: Listener): readonly ErrorCode[] {
  if (caller === 'any_key') return ['unauthorized', 'rate_limited'];
  if (listener === 'internal') return ['unauthorized', 'forbidden_scope'];
  return scope === null ? keyChecks : [...keyChecks, 'forbidden_scope'];
}

function checksOfInput(route: CheckedRoute): ErrorCode[] {
  const { method, ids, query, ifMatch } = route;
  const codes: ErrorCode[] = ['validation_failed', 'malformed_request'];
  if (method !== 'GET') codes.push('request_timeout', 'unsupported_media_type', 'payload_too_large', 'invalid_json');
  if (query !== undefined && hasCursor(query)) codes.push('invalid_cursor');
  if (Object.keys(ids).length > 0) codes.push('not_found');
  if (ifMatch) codes.push('precondition_failed');
  if (isIdempotent(route)) codes.push('idempotency_in_progress', 'idempotency_key_reused');
  return codes;
}

function hasCursor(query: object): boolean {
  return 'shape' in query && 'cursor' in (query.shape as object);
}

function inOrder(codes: ReadonlySet<ErrorCode>): ErrorCode[] {
  return (Object.keys(errorCatalogue) as ErrorCode[]).filter((code) => codes.has(code));
}
