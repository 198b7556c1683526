import { hasApiAccess, type RequiredScope } from '@enterprise-api/shared/contracts';
import type { Clock, Uuid } from '@enterprise-api/shared/runtime';
import { cidrContains } from '@enterprise-api/shared/security';
import type { WithDatabaseCheck } from '../core/database-health.ts';
import { isProblem, type Problem, problem } from '../http/problem.ts';
import { addressBucket } from '../http/server/client-address.ts';
import type { Caller } from '../http/server/request-context.ts';
import { type Authenticator, hasExpired } from './authenticate.ts';
import type { StoredKey } from './queries.ts';
import { type RateDecision, type RateLimiter, rateLimitHeaders, secondsUntilReset } from './rate-limit.ts';
import { hasScope } from './scopes.ts';

/** The principal: the caller, known once every check of the request's head has passed. Handlers of `/v1` get it. */
export interface Principal {
  readonly key: StoredKey;
  /** The client's address. */
  readonly address: string;
}

/** The head of a request, as far as its caller is judged by it. */
interface JudgedRequest {
  readonly method: string;
  /** The values of each `Authorization` header. */
  readonly authorization: readonly string[] | undefined;
  /** The scope that the key needs; null where none is needed, because nothing is there to be used. */
  readonly scope: RequiredScope | null;
  /** Whether the request was judged a moment ago already: then it is not counted again. */
  readonly isRepeat?: boolean;
  /** Gets the key, and whether the checks refused it, for the log and the usage. */
  readonly caller: Caller;
  /** Of the answer: gets the rate limit. */
  readonly headers: Record<string, string>;
}

/**
 * Checks in this order: 401 → 403 ip_not_allowed → 403 plan_no_api_access → 429 → 403 forbidden_scope. The order is the
 * same on every path, so that strangers cannot find out which paths exist.
 *
 * @throws DatabaseUnavailableError when the key must be looked up and the database does not answer
 */
export type Judge = (request: JudgedRequest) => Promise<Principal | Problem>;

export interface JudgeOptions {
  authenticator: Authenticator;
  rateLimiter: RateLimiter;
  clock: Clock;
  /** Called for each request whose key may use the API from its address. */
  onKeyUsed: (keyId: Uuid) => void;
  onRateDecision: (decision: RateDecision) => void;
  withDatabaseCheck: WithDatabaseCheck;
}

/** The one implementation of the checks: for the API's own routes, for areas, and for forward authentication. */
export function createJudge(options: JudgeOptions): Judge {
  const { authenticator, rateLimiter, clock } = options;
  return async ({ method, authorization, scope, isRepeat = false, caller, headers }) => {
    const { address } = caller;
    const readOnly = method === 'GET' || method === 'HEAD';
    const found = authenticator.authenticate({ authorization, bucket: addressBucket(address), readOnly, isRepeat });
    const key = found instanceof Promise ? await options.withDatabaseCheck(found) : found;
    if (isProblem(key)) return key;
    caller.key = key;
    caller.isRefused = true;
    if (!allowsAddress(key, address)) return problem('ip_not_allowed');
    const { id, plan } = key.organization;
    if (!hasApiAccess(plan)) return problem('plan_no_api_access');
    const decision = await (isRepeat ? rateLimiter.peek(id, plan) : rateLimiter.consume(id, plan));
    if (!isRepeat) {
      options.onKeyUsed(key.id);
      options.onRateDecision(decision);
    }
    Object.assign(headers, rateLimitHeaders(decision, clock.now()));
    if (!decision.allowed) return problem('rate_limited', { retryAfterSeconds: secondsUntilReset(decision) });
    if (scope !== null && !hasScope(key.scopes, scope)) return problem('forbidden_scope', { requiredScope: scope });
    caller.isRefused = false;
    return { key, address };
  };
}

/** Whether a key, read again later, may still do what its request was granted. */
export function stillGrants(key: StoredKey | null, { address, scope, nowMs }: GrantedUse): boolean {
  if (key === null || hasExpired(key, nowMs)) return false;
  return allowsAddress(key, address) && hasApiAccess(key.organization.plan) && hasScope(key.scopes, scope);
}

/** What a request was granted. */
export interface GrantedUse {
  readonly address: string;
  readonly scope: RequiredScope;
  readonly nowMs: number;
}

function allowsAddress(key: StoredKey, address: string): boolean {
  return key.ipAllowlist === null || key.ipAllowlist.some((cidr) => cidrContains(cidr, address));
}
