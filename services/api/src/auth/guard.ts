import { hasApiAccess, type RequiredScope } from '@enterprise-api/shared/contracts';
import type { Clock, Uuid } from '@enterprise-api/shared/runtime';
import { cidrContains } from '@enterprise-api/shared/security';
import type { WithDatabaseCheck } from '../core/database-health.ts';
import { isProblem, type Problem, problem } from '../core/problem.ts';
import type { Guard } from '../http/routing/serve-routes.ts';
import { addressBucket, clientAddress, isTrustedProxy } from '../http/server/client-address.ts';
import { type RequestContext, requestContextOf, targetOf } from '../http/server/request-context.ts';
import type { Authenticator } from './authenticate.ts';
import { hasScope, scopeOfUnservedPath } from './authorize.ts';
import type { StoredKey } from './queries.ts';
import type { RateDecision, RateLimiter } from './rate-limit.ts';
import { rateLimitHeaders, secondsUntilReset } from './rate-limit-headers.ts';

/** The principal: the caller, known once every check of the request's head has passed. Handlers of `/v1` get it. */
export interface Principal {
  readonly key: StoredKey;
}

export interface PublicGuardOptions {
  authenticator: Authenticator;
  rateLimiter: RateLimiter;
  trustedProxies: readonly string[];
  clock: Clock;
  /** Called when `X-Forwarded-For` is ignored because this peer, which sent it, is not a trusted proxy. */
  onForwardedForIgnored: (peer: string) => void;
  /** Called for each request of a key that may use the API from where it is. */
  onKeyUsed: (keyId: Uuid) => void;
  onRateDecision: (decision: RateDecision) => void;
  withDatabaseCheck: WithDatabaseCheck;
}

/**
 * Checks in this order: 401 → 403 ip_not_allowed → 403 plan_no_api_access → 429 → 403 forbidden_scope. The order is the
 * same on every path, so that strangers cannot find out which paths exist.
 */
export function createPublicGuard(options: PublicGuardOptions): Guard<Principal> {
  const { authenticator, rateLimiter, trustedProxies, clock } = options;
  return async (request, response, target) => {
    const context = requestContextOf(response);
    const peer = request.socket.remoteAddress;
    const forwardedFor = request.headers['x-forwarded-for'] as string | undefined;
    if (forwardedFor !== undefined && !isTrustedProxy(peer, trustedProxies)) {
      options.onForwardedForIgnored(peer ?? 'unknown');
    }
    const address = clientAddress(peer, forwardedFor, trustedProxies);
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
