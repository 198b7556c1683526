import { hash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@enterprise-api/shared/runtime';
import { challenges, type Problem, problem } from '../http/problem.ts';
import { bearerToken } from '../http/server/request-context.ts';
import { createFailureLimit } from './failure-limit.ts';
import type { KeyCache } from './key-cache.ts';
import { isWellFormedKey } from './key-format.ts';
import type { StoredKey } from './queries.ts';
import { createRecentSuccesses } from './recent-successes.ts';

export interface Authenticator {
  /**
   * Finds the key that a request presents. A key that is missing, malformed, unknown, revoked or expired gets the same
   * answer, 401. An address with too many of those gets 429 before any look-up, except for keys that were good from it
   * within the last hour.
   *
   * @throws the database's error when the database is needed and does not answer
   */
  authenticate(presented: PresentedKey): Promise<StoredKey | Problem> | StoredKey | Problem;
}

interface PresentedKey {
  /** The values of each `Authorization` header. */
  readonly authorization: readonly string[] | undefined;
  /** The address that failures are counted for. */
  readonly bucket: string;
  /** Whether a cached key may serve while the database is away. */
  readonly readOnly: boolean;
  /** Whether a failure was counted a moment ago already. */
  readonly isRepeat: boolean;
}

export interface AuthenticatorOptions {
  cache: Pick<KeyCache, 'peek' | 'load'>;
  /** Per address. */
  failuresPerMinute: number;
  clock: Clock;
}

export function createAuthenticator({ cache, failuresPerMinute, clock }: AuthenticatorOptions): Authenticator {
  const failures = createFailureLimit(failuresPerMinute, clock);
  const successes = createRecentSuccesses(clock);
  const refuse = ({ bucket, isRepeat }: PresentedKey, headers: Record<string, string>): Problem => {
    const waitSeconds = isRepeat ? failures.exceeded(bucket) : failures.count(bucket);
    return waitSeconds === null ? problem('unauthorized', { headers }) : tooManyFailures(waitSeconds);
  };
  const acceptOrRefuse = (key: StoredKey | null, digest: string, presented: PresentedKey): StoredKey | Problem => {
    if (key !== null && isInForce(key, digest, clock.now())) {
      successes.note(presented.bucket, digest);
      return key;
    }
    successes.forget(presented.bucket, digest);
    return refuse(presented, challenges.invalid);
  };
  return {
    authenticate: (presented) => {
      const { authorization, bucket, readOnly } = presented;
      const token = bearerToken(authorization);
      if (token === null || !isWellFormedKey(token)) {
        return refuse(presented, authorization === undefined ? challenges.missing : challenges.invalid);
      }
      const digest = hash('sha256', token, 'hex');
      const known = cache.peek(digest);
      if (known !== undefined) return acceptOrRefuse(known, digest, presented);
      const waitSeconds = failures.blocked(bucket);
      if (waitSeconds !== null && !successes.has(bucket, digest)) return tooManyFailures(waitSeconds);
      return cache.load(digest, readOnly).then((key) => acceptOrRefuse(key, digest, presented));
    },
  };
}

/** The digest is compared in constant time, so that the index look-up alone never decides that a key is the presented one. */
function isInForce(key: StoredKey, digest: string, nowMs: number): boolean {
  if (!timingSafeEqual(key.hash, Buffer.from(digest, 'hex'))) return false;
  return !hasExpired(key, nowMs);
}

export function hasExpired({ expiresAt }: StoredKey, nowMs: number): boolean {
  return expiresAt !== null && expiresAt.getTime() <= nowMs;
}

function tooManyFailures(retryAfterSeconds: number): Problem {
  const message = 'Too many failed authentications from this address. Try again later.';
  return problem('rate_limited', { message, retryAfterSeconds });
}
