import { hash, timingSafeEqual } from 'node:crypto';
import { BoundedMap, type Clock } from '@enterprise-api/shared/runtime';
import { challenges, type Problem, problem } from '../http/problem.ts';
import { bearerToken } from '../http/server/request-context.ts';
import type { KeyCache } from './key-cache.ts';
import { isWellFormedKey } from './key-format.ts';
import type { StoredKey } from './queries.ts';

export interface Authenticator {
  /**
   * Finds the presented key. A missing, malformed, unknown, revoked or expired key gets the same answer: 401. If an
   * address has too many failures, it gets 429 before any look-up. A key that succeeded from this address within the
   * last hour is exempt.
   *
   * @throws the database's error when the database is needed and does not answer
   */
  authenticate(presented: PresentedKey): Promise<StoredKey | Problem> | StoredKey | Problem;
}

interface PresentedKey {
  readonly authorization: readonly string[] | undefined;
  readonly bucket: string;
  /** Whether a cached key is enough while the database is unavailable. */
  readonly readOnly: boolean;
  /** Whether an earlier check of the same request already counted a failure. */
  readonly isRepeat: boolean;
}

export interface AuthenticatorOptions {
  cache: Pick<KeyCache, 'peek' | 'load'>;
  failures: FailureLimit;
  clock: Clock;
  /** Returns the key, or the credential of a console session, in the presented values. Null if there is none. */
  credentialOf?: (presented: readonly string[] | undefined) => string | null;
  /** True if the credentials belong to sessions of the console. */
  forSessions?: boolean;
}

const keyOf = (authorization: readonly string[] | undefined): string | null => {
  const token = bearerToken(authorization);
  return token !== null && isWellFormedKey(token) ? token : null;
};

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { cache, failures, clock, credentialOf = keyOf, forSessions = false } = options;
  const successes = createRecentSuccesses(clock);
  const refuse = ({ bucket, isRepeat }: PresentedKey, headers: Record<string, string>): Problem => {
    const waitSeconds = isRepeat ? failures.exceeded(bucket) : failures.count(bucket);
    if (waitSeconds !== null) return tooManyFailures(waitSeconds);
    return forSessions ? sessionEnded : problem('unauthorized', { headers });
  };
  const acceptOrRefuse = (key: StoredKey | null, digest: string, presented: PresentedKey): StoredKey | Problem => {
    if (key !== null && forSessions === (key.session !== undefined) && isInForce(key, digest, clock.now())) {
      successes.note(presented.bucket, digest);
      return key;
    }
    successes.forget(presented.bucket, digest);
    return refuse(presented, challenges.invalid);
  };
  return {
    authenticate: (presented) => {
      const { authorization, bucket, readOnly } = presented;
      const token = credentialOf(authorization);
      if (token === null) {
        return refuse(presented, authorization === undefined ? challenges.missing : challenges.invalid);
      }
      const digest = hash('sha256', token, 'hex');
      const known = cache.peek(digest);
      if (known !== undefined) return acceptOrRefuse(known, digest, presented);
      const waitSeconds = failures.blocked(bucket);
      if (waitSeconds !== null && !successes.has(bucket, digest)) return tooManyFailures(waitSeconds);
      const kind = forSessions ? 'session' : 'key';
      return cache.load(digest, readOnly, kind).then((key) => acceptOrRefuse(key, digest, presented));
    },
  };
}

/** Compares the digest in constant time, so that the index look-up alone never accepts a key. */
function isInForce(key: StoredKey, digest: string, nowMs: number): boolean {
  if (!timingSafeEqual(key.hash, Buffer.from(digest, 'hex'))) return false;
  return !hasExpired(key, nowMs);
}

export function hasExpired({ expiresAt }: StoredKey, nowMs: number): boolean {
  return expiresAt !== null && expiresAt.getTime() <= nowMs;
}

/** The one answer for every session or link to a session that is missing, unknown, used or ended. */
export const sessionEnded = problem('unauthorized', {
  message: 'The console session is missing, unknown, used or ended.',
});

export function tooManyFailures(retryAfterSeconds: number): Problem {
  const message = 'Too many failed authentications from this address. Try again later.';
  return problem('rate_limited', { message, retryAfterSeconds });
}

export type FailureLimit = ReturnType<typeof createFailureLimit>;

/**
 * Counts failed authentications per address, in memory, so that the limit holds while database and Redis are
 * unavailable.
 */
export function createFailureLimit(failuresPerMinute: number, clock: Pick<Clock, 'monotonic'>) {
  const windows = new BoundedMap<string, { failures: number; endsAtMs: number }>(maxAddresses);
  const current = (bucket: string) => {
    const window = windows.get(bucket);
    return window !== undefined && window.endsAtMs > clock.monotonic() ? window : undefined;
  };
  /** Seconds to wait if this address has at least this many failures, else null. */
  const secondsFrom = (bucket: string, failures: number): number | null => {
    const window = current(bucket);
    if (window === undefined || window.failures < failures) return null;
    return Math.max(1, Math.ceil((window.endsAtMs - clock.monotonic()) / 1_000));
  };
  /** Seconds to wait if the failures exceed the limit, else null. Repeats the result of the last `count`. */
  const exceeded = (bucket: string) => secondsFrom(bucket, failuresPerMinute + 1);
  return {
    /** Seconds to wait if this address has used up its failures, else null. */
    blocked: (bucket: string) => secondsFrom(bucket, failuresPerMinute),
    exceeded,
    /**
     * Counts one failure.
     *
     * @returns seconds to wait if the failures now exceed the limit, else null
     */
    count: (bucket: string) => {
      const window = current(bucket) ?? { failures: 0, endsAtMs: clock.monotonic() + windowMs };
      windows.set(bucket, window);
      window.failures++;
      return exceeded(bucket);
    },
  };
}

const windowMs = 60 * 1_000;
const maxAddresses = 50_000;

/**
 * Remembers in memory which keys authenticated from which address within the last hour. Such keys are looked up even
 * while the address is blocked. Without this, one client's failures would lock out all others behind a shared proxy.
 */
export interface RecentSuccesses {
  /** @param digest SHA-256 of the key; the key itself is never kept */
  note(bucket: string, digest: string): void;
  has(bucket: string, digest: string): boolean;
  forget(bucket: string, digest: string): void;
}

/** A success is recorded again only after this time, so that most requests cost one read of the map. */
const noteEveryMs = 60 * 1_000;
/** One hour after the latest success. The recorded success may be older than the latest by `noteEveryMs`. */
const rememberedMs = 3_600 * 1_000 + noteEveryMs;

export function createRecentSuccesses(clock: Pick<Clock, 'monotonic'>): RecentSuccesses {
  const notedAtMs = new BoundedMap<string, number>();
  const ageMs = (id: string) => clock.monotonic() - (notedAtMs.get(id) ?? Number.NEGATIVE_INFINITY);
  return {
    note: (bucket, digest) => {
      const id = idOf(bucket, digest);
      if (ageMs(id) >= noteEveryMs) notedAtMs.set(id, clock.monotonic());
    },
    has: (bucket, digest) => ageMs(idOf(bucket, digest)) < rememberedMs,
    forget: (bucket, digest) => notedAtMs.delete(idOf(bucket, digest)),
  };
}

function idOf(bucket: string, digest: string): string {
  return `${digest} ${bucket}`;
}
