import type { Database } from '@enterprise-api/shared/ledger';
import { createLimitedWarning, createLoop } from '@enterprise-api/shared/runtime';
import type { WithDatabaseCheck } from '../core/database-health.ts';
import type { Foundation } from '../core/foundation.ts';
import { createAuthenticator } from './authenticate.ts';
import { createJudge } from './judge.ts';
import { KeyCache } from './key-cache.ts';
import { createLastUsed } from './last-used.ts';
import { createOutsideUses, writeOutsideUsesEveryMs } from './outside-uses.ts';
import { addOutsideUses, findKeyByHash, markKeysUsed } from './queries.ts';
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
}

export async function openJudge({ log, clock, closers }: Foundation, options: OpenJudgeOptions) {
  const { db, withDatabaseCheck, onRateDecision, redisUrl } = options;
  const find = (hash: Buffer) => {
    options.onKeyLookup();
    return findKeyByHash(db, hash);
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
    run: () => outsideUses.flush().then(() => writeOutsideUsesEveryMs),
    onError: createLimitedWarning(log, 'requests from outside of allowlists not written yet'),
    delayAfterErrorMs: writeOutsideUsesEveryMs,
  });
  closers.add('requests from outside of allowlists', () => outsideLoop.stop().then(outsideUses.flush));
  outsideLoop.start();
  const judge = createJudge({
    authenticator: createAuthenticator({ cache, failuresPerMinute: options.authFailuresPerMinute, clock }),
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
  const signatureCheckLimit = createRequestLimit('signature-checks', 30, { redis, clock, onError });
  return { judge, keyCache: cache, redis, signatureCheckLimit };
}
