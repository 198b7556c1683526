import { hasApiAccess } from '@enterprise-api/shared/contracts';
import { type AuthenticatorOptions, createAuthenticator } from './authenticate.ts';
import { createJudge, type Judge, type JudgeOptions } from './judge.ts';
import { createRequestLimit, type RateLimiterOptions } from './rate-limit.ts';

export interface ConsoleSettings {
  /** The origin of the console's pages. */
  readonly publicUrl: string;
  /** The owner's page that mints links. */
  readonly signInUrl: string | null;
  readonly brand: { readonly name: string; readonly logo: string | null } | null;
  /** Requests per minute and organization, over all its sessions. */
  readonly rateLimit: number;
}

type ConsoleJudgeOptions = Pick<AuthenticatorOptions, 'cache' | 'failures'> &
  Pick<JudgeOptions, 'withDatabaseCheck'> &
  Omit<RateLimiterOptions, 'limits'> & { limit: number };

/**
 * Judges requests with the cookie of a console session, in the same order as requests with a key. A plan without API
 * access may read, and may revoke keys.
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

/** The ledger stores a hash of this text, so the cookie does not work under another organization's name. */
export function sessionCredential(organizationId: string, token: string): string {
  return `${organizationId}.${token}`;
}

function sessionOf(presented: readonly string[] | undefined): string | null {
  const [credential = ''] = presented ?? [];
  return /^org_[0-9a-z]{26}\.[A-Za-z0-9_-]{43}$/.test(credential) ? credential : null;
}
