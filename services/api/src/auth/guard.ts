import { hasApiAccess, type RequiredScope } from '@enterprise-api/shared/contracts';
import type { Clock } from '@enterprise-api/shared/runtime';
import { cidrContains } from '@enterprise-api/shared/security';
import type { WithDatabaseCheck } from '../core/database-health.ts';
import { isProblem, type Problem, problem } from '../core/problem.ts';
import type { Guard } from '../http/routing/serve-routes.ts';
import { addressBucket, clientAddress } from '../http/server/client-address.ts';
import { type RequestContext, requestContextOf, targetOf } from '../http/server/request-context.ts';
import type { Authenticator } from './authenticate.ts';
import { hasScope, scopeOfUnservedPath } from './authorize.ts';
import type { StoredKey } from './queries.ts';
import type { RateDecision, RateLimiter } from './rate-limit.ts';
import { rateLimitHeaders, secondsUntilReset } from './rate-limit-headers.ts';

/** Who is calling, after every check of the request's head: what handlers of `/v1` get. */
export interface Principal {
  readonly key: StoredKey;
}

export interface PublicGuardOptions {
  authenticator: Authenticator;
  rateLimiter: RateLimiter;
  trustedProxies: readonly string[];
  clock: Clock;
  /** Called for each request of a key that may use the API from where it is. */
  onKeyUsed: (keyId: string) => void;
  onRateDecision: (decision: RateDecision) => void;
  withDatabaseCheck: WithDatabaseCheck;
}

/**
 * The order of checks of the contract, section 3: 401 → ip_not_allowed → plan_no_api_access → 429 → forbidden_scope.
 * It is the same on every path, so that a path that does not exist tells a stranger nothing.
 */
export function createPublicGuard(options: PublicGuardOptions): Guard<Principal> {
  const { authenticator, rateLimiter, trustedProxies, clock } = options;
  return async (request, response, target) => {
    const context = requestContextOf(response);
    const forwardedFor = request.headers['x-forwarded-for'] as string | undefined;
    const address = clientAddress(request.socket.remoteAddress, forwardedFor, trustedProxies);
    context.clientAddress = address;
    const found = authenticator.authenticate(request, addressBucket(address));
    const key = found instanceof Promise ? await options.withDatabaseCheck(() => found) : found;
    if (isProblem(key)) return key;
    identify(context, key);
    if (!allowsAddress(key, address)) return problem('ip_not_allowed');
    const { id, plan } = key.organization;
    if (!hasApiAccess(plan)) return problem('plan_no_api_access');
    options.onKeyUsed(key.id);
    const decision = await rateLimiter.consume(id, plan);
    options.onRateDecision(decision);
    for (const [name, value] of rateLimitHeaders(decision, clock.now())) context.headers[name] = value;
    if (!decision.allowed) return problem('rate_limited', { retryAfterSeconds: secondsUntilReset(decision) });
    const scope =
      target.kind === 'route' ? target.route.scope : scopeOfUnservedPath(request.method, targetOf(request).path);
    return scope === null || hasScope(key.scopes, scope) ? { key } : lacksScope(scope);
  };
}

function identify(context: RequestContext, key: StoredKey): void {
  context.organizationId = key.organization.id;
  context.keyId = key.id;
}

function allowsAddress(key: StoredKey, address: string): boolean {
  return key.ipAllowlist === null || key.ipAllowlist.some((cidr) => cidrContains(cidr, address));
}

function lacksScope(requiredScope: RequiredScope): Problem {
  return problem('forbidden_scope', { requiredScope });
}
