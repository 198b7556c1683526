import { hasApiAccess } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { createLimitedWarning, createLoop } from '@enterprise-api/shared/runtime';
import type { WithDatabaseCheck } from '../core/database-health.ts';
import type { Foundation } from '../core/foundation.ts';
import { createAuthenticator, createFailureLimit } from './authenticate.ts';
import { type ConsoleSettings, createConsoleJudge } from './console-judge.ts';
import { createJudge } from './judge.ts';
import { type CredentialKind, KeyCache } from './key-cache.ts';
import { createLastUsed } from './last-used.ts';
import { createOutsideUses, writeOutsideUsesEveryMs } from './outside-uses.ts';
import { addOutsideUses, findKeyByHash, findSessionByHash, markKeysUsed } from './queries.ts';
import {
  createRateLimiter,
  createRequestLimit,
  openRateLimitStore,
  type RateDecision,
  type RateLimiterOptions,
} from './rate-limit.ts';

export interface OpenJudgeOptions {
  db: Database;
  withDatabaseCheck: WithDatabaseCheck;
  redisUrl: string | undefined;
  rateLimits: RateLimiterOptions['limits'];
  authFailuresPerMinute: number;
  onKeyLookup: () => void;
  onRateDecision: (decision: RateDecision) => void;
  onOutsideAllowlist: () => void;
  console: ConsoleSettings | undefined;
}

export async function openJudge({ log, clock, closers }: Foundation, options: OpenJudgeOptions) {
  const { db, withDatabaseCheck, onRateDecision, redisUrl } = options;
  const find = async (hash: Buffer, kind?: CredentialKind) => {
    options.onKeyLookup();
    const key = kind === 'session' ? null : await findKeyByHash(db, hash);
    return key ?? (kind === 'key' ? null : await findSessionByHash(db, hash));
  };
  const cache = new KeyCache({ find, clock });
  const onError = createLimitedWarning(log, 'Redis unavailable; rate limits are counted per process');
  const redis = await openRateLimitStore(redisUrl, closers, onError);
  const lastUsed = createLastUsed({
    write: (uses) => markKeysUsed(db, uses),
    clock,
    onError: createLimitedWarning(log, 'last use of keys not written yet'),
  });
  closers.add('last use of keys', lastUsed.flush);
  const outsideUses = createOutsideUses((uses) => addOutsideUses(db, uses), clock);
  const outsideLoop = createLoop({
    run: outsideUses.flush,
    onError: createLimitedWarning(log, 'requests from outside of allowlists not written yet'),
    everyMs: writeOutsideUsesEveryMs,
  });
  closers.add('requests from outside of allowlists', () => outsideLoop.stop().then(outsideUses.flush));
  outsideLoop.start();
  const failures = createFailureLimit(options.authFailuresPerMinute, clock);
  const judge = createJudge({
    authenticator: createAuthenticator({ cache, failures, clock }),
    hasAccess: hasApiAccess,
    rateLimiter: createRateLimiter({ limits: options.rateLimits, redis, clock, onError }),
    clock,
    onKeyUsed: lastUsed.note,
    onOutsideAllowlist: (...use) => {
      options.onOutsideAllowlist();
      outsideUses.note(...use);
    },
    onRateDecision,
    withDatabaseCheck,
  });
  const limited = { redis, clock, onError };
  const consoleJudge =
    options.console &&
    createConsoleJudge({ cache, failures, withDatabaseCheck, limit: options.console.rateLimit, ...limited });
  const signatureCheckLimit = createRequestLimit('signature-checks', 30, limited);
  return { judge, consoleJudge, failures, keyCache: cache, redis, signatureCheckLimit };
}
