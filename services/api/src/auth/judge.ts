import { hasApiAccess, type Plan, type RouteScope } from '@enterprise-api/shared/contracts';
import type { Clock, Uuid } from '@enterprise-api/shared/runtime';
import { cidrContains } from '@enterprise-api/shared/security';
import type { WithDatabaseCheck } from '../core/database-health.ts';
import { isProblem, type Problem, problem } from '../http/problem.ts';
import { addressBucket } from '../http/server/client-address.ts';
import type { Caller } from '../http/server/request-context.ts';
import { type Authenticator, hasExpired } from './authenticate.ts';
import type { Origin } from './last-used.ts';
import type { StoredKey } from './queries.ts';
import { type RateDecision, type RateLimiter, rateLimitHeaders, secondsUntilReset } from './rate-limit.ts';
import { hasScope } from './scopes.ts';

/** A caller who passed every check of the request's head. Handlers of `/v1` receive this. */
export interface Principal {
  readonly key: StoredKey;
  readonly address: string;
}

interface JudgedRequest {
  readonly method: string;
  readonly authorization: readonly string[] | undefined;
  /** The scope that the key needs; null for an unknown path or method. */
  readonly scope: RouteScope | null;
  /** True if any valid key is enough. The checks after 401 are then skipped, and the request is not counted. */
  readonly acceptsAnyKey: boolean;
  readonly userAgent: string | undefined;
  /** True if an earlier check already counted this request, so that this check does not count it again. */
  readonly isRepeat?: boolean;
  /** The checks store here the key, and whether they refused the request. */
  readonly caller: Caller;
  readonly headers: Record<string, string>;
}

/**
 * Checks in this order: 401 → 403 ip_not_allowed → 403 plan_no_api_access → 429 → 403 forbidden_scope. Every path has
 * the same order, so that strangers cannot find out which paths exist.
 *
 * @throws DatabaseUnavailableError when the key must be looked up and the database does not answer
 */
export type Judge = (request: JudgedRequest) => Promise<Principal | Problem>;

export interface JudgeOptions {
  authenticator: Authenticator;
  rateLimiter: RateLimiter;
  /** Whether the plan allows the request. */
  hasAccess: (plan: Plan, operation: { method: string; scope: RouteScope | null }) => boolean;
  clock: Clock;
  /** Called after the address and the plan were accepted. */
  onKeyUsed: (keyId: Uuid, origin: Origin) => void;
  /** Called for a request from outside the allowlist of a key that reports such requests. */
  onOutsideAllowlist: (keyId: Uuid, allowlist: readonly string[], address: string) => void;
  onRateDecision: (decision: RateDecision) => void;
  withDatabaseCheck: WithDatabaseCheck;
}

/** The only implementation of {@link Judge}. The API's own routes, the areas and forward authentication share it. */
export function createJudge(options: JudgeOptions): Judge {
  const { authenticator, rateLimiter, hasAccess, clock } = options;
  return async ({ method, authorization, scope, acceptsAnyKey, userAgent, isRepeat = false, caller, headers }) => {
    const { address } = caller;
    const readOnly = method === 'GET' || method === 'HEAD';
    const found = authenticator.authenticate({ authorization, bucket: addressBucket(address), readOnly, isRepeat });
    const key = found instanceof Promise ? await options.withDatabaseCheck(found) : found;
    if (isProblem(key)) return key;
    caller.key = key;
    if (acceptsAnyKey) return { key, address };
    caller.isRefused = true;
    if (!isListed(key, address)) {
      if (key.ipAllowlistMode === 'enforce') return problem('ip_not_allowed');
      if (!isRepeat) options.onOutsideAllowlist(key.id, key.ipAllowlist ?? [], address);
    }
    const { id, plan } = key.organization;
    if (!hasAccess(plan, { method, scope })) return problem('plan_no_api_access');
    const decision = await (isRepeat ? rateLimiter.peek(id, plan) : rateLimiter.consume(id, plan));
    if (!isRepeat) {
      options.onKeyUsed(key.id, { address, userAgent });
      options.onRateDecision(decision);
    }
    Object.assign(headers, rateLimitHeaders(decision, clock.now()));
    if (!decision.allowed) return problem('rate_limited', { retryAfterSeconds: secondsUntilReset(decision) });
    if (scope !== null && !hasScope(key.scopes, scope)) return problem('forbidden_scope', { requiredScope: scope });
    caller.isRefused = false;
    return { key, address };
  };
}

/** True if a key, read again later, still permits a request that was granted before. */
export function stillGrants(key: StoredKey | null, { address, scope, nowMs }: GrantedUse): boolean {
  if (key === null || hasExpired(key, nowMs)) return false;
  const allowsAddress = key.ipAllowlistMode === 'report' || isListed(key, address);
  const hasAccess = key.session !== undefined || hasApiAccess(key.organization.plan);
  return allowsAddress && hasAccess && hasScope(key.scopes, scope);
}

export interface GrantedUse {
  readonly address: string;
  readonly scope: RouteScope;
  readonly nowMs: number;
}

export function isListed(key: StoredKey, address: string): boolean {
  return key.ipAllowlist === null || key.ipAllowlist.some((cidr) => cidrContains(cidr, address));
}
