import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '@enterprise-api/shared/runtime';
import { challenges, type Problem, problem } from '../core/problem.ts';
import { bearerToken } from './bearer.ts';
import type { FailureLimit } from './failure-limit.ts';
import type { KeyCache } from './key-cache.ts';
import { isWellFormedKey } from './key-format.ts';
import type { StoredKey } from './queries.ts';

export interface Authenticator {
  /**
   * Who is calling. A key that is missing, malformed, unknown, revoked or expired gets one and the same answer, 401;
   * an address with too many of those gets 429 before anything is looked up.
   *
   * @param bucket what failures are counted under
   * @throws the database's error when it is needed and does not answer
   */
  authenticate(request: IncomingMessage, bucket: string): Promise<StoredKey | Problem> | StoredKey | Problem;
}

export interface AuthenticatorOptions {
  cache: Pick<KeyCache, 'peek' | 'load'>;
  failures: FailureLimit;
  clock: Clock;
}

export function createAuthenticator({ cache, failures, clock }: AuthenticatorOptions): Authenticator {
  const refuse = (bucket: string, missing = false): Problem => {
    const waitSeconds = failures.count(bucket);
    if (waitSeconds !== null) return tooManyFailures(waitSeconds);
    return problem('unauthorized', { headers: missing ? challenges.missing : challenges.invalid });
  };
  const accept = (key: StoredKey | null, digest: string, bucket: string): StoredKey | Problem => {
    // The digest is compared once more, in constant time: whatever found the key, it is the one that was presented.
    if (key === null || !timingSafeEqual(key.hash, Buffer.from(digest, 'hex'))) return refuse(bucket);
    if (key.expiresAt !== null && key.expiresAt.getTime() <= clock.now()) return refuse(bucket);
    return key;
  };
  return {
    authenticate: (request, bucket) => {
      const token = bearerToken(request);
      if (token === null || !isWellFormedKey(token)) return refuse(bucket, request.headers.authorization === undefined);
      const digest = hash('sha256', token, 'hex');
      const known = cache.peek(digest);
      if (known !== undefined) return accept(known, digest, bucket);
      const waitSeconds = failures.blocked(bucket);
      if (waitSeconds !== null) return tooManyFailures(waitSeconds);
      return cache.load(digest, request.method === 'GET').then((key) => accept(key, digest, bucket));
    },
  };
}

function tooManyFailures(retryAfterSeconds: number): Problem {
  const message = 'Too many failed authentications from this address. Try again later.';
  return problem('rate_limited', { message, retryAfterSeconds });
}
