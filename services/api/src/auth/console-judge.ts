import { hasApiAccess } from '@enterprise-api/shared/contracts';
import { type AuthenticatorOptions, createAuthenticator } from './authenticate.ts';
import { createJudge, type Judge, type JudgeOptions } from './judge.ts';
import { createRequestLimit, type RateLimiterOptions } from './rate-limit.ts';

export interface ConsoleSettings {
  /** The origin of the console's pages. */
  readonly publicUrl: string;
  /** The page of this API's owner that creates links to the console. */
  readonly signInUrl: string | null;
  readonly brand: { readonly name: string; readonly logo: string | null } | null;
  /** Requests per minute of an organization, in all its sessions together. */
  readonly rateLimit: number;
}

type ConsoleJudgeOptions = Pick<AuthenticatorOptions, 'cache' | 'failures'> &
  Pick<JudgeOptions, 'withDatabaseCheck'> &
  Omit<RateLimiterOptions, 'limits'> & { limit: number };

/**
 * Checks requests with the cookie of a console session, in the same order as requests with a key. If the plan has no
 * API access, sessions may still read and revoke keys.
 */
export function createConsoleJudge({
  cache,
  failures,
  withDatabaseCheck,
  limit,
  ...limited
}: ConsoleJudgeOptions): Judge {
  const count = createRequestLimit('console', limit, limited);
  const { clock } = limited;
  return createJudge({
    authenticator: createAuthenticator({ cache, failures, clock, credentialOf: sessionOf, forSessions: true }),
    hasAccess: (plan, { method, scope }) =>
      hasApiAccess(plan) || !scope?.endsWith(':write') || (method === 'DELETE' && scope === 'keys:write'),
    rateLimiter: { consume: count, peek: count },
    clock,
    onKeyUsed: () => undefined,
    onOutsideAllowlist: () => undefined,
    onRateDecision: () => undefined,
    withDatabaseCheck,
  });
}

/** The ledger stores a hash of this text, so the cookie does not work with another organization's id. */
export function sessionCredential(organizationId: string, token: string): string {
  return `${organizationId}.${token}`;
}

function sessionOf(presented: readonly string[] | undefined): string | null {
  const [credential = ''] = presented ?? [];
  return /^org_[0-9a-z]{26}\.[A-Za-z0-9_-]{43}$/.test(credential) ? credential : null;
}
