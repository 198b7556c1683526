import { type ApiPlan, type Plan, planNames } from '@enterprise-api/shared/contracts';
import { connectRedis, type RedisClient } from '@enterprise-api/shared/redis';
import { type Clock, type Closers, redisRetryDelayMs, settledWithin, type Uuid } from '@enterprise-api/shared/runtime';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';

export interface RateDecision {
  allowed: boolean;
  limit: number;
  remaining: number;
  resetMs: number;
  source: 'shared' | 'local';
}

export interface RateLimiter {
  /**
   * Counts one request of an organization. Never throws and never waits long: a broken limiter must not stop the API.
   */
  consume(organizationId: Uuid, plan: Plan): Promise<RateDecision>;
  /** Returns the state after the organization's latest request, without counting one. Never throws. */
  peek(organizationId: Uuid, plan: Plan): Promise<RateDecision>;
}

const rateWindowSeconds = 60;

/**
 * An organization's rate limit as answers show it. Only the console shows a plan without API access, with a limit of 0.
 */
export function describeRateLimit(limits: Readonly<Record<ApiPlan, number>>, plan: Plan) {
  return { limit: limits[plan as ApiPlan] ?? 0, window_seconds: rateWindowSeconds };
}

export function rateLimitHeaders(decision: RateDecision, nowMs: number): Record<string, string> {
  const { limit, remaining } = decision;
  const resetSeconds = secondsUntilReset(decision);
  return {
    RateLimit: `"organization";r=${remaining};t=${resetSeconds}`,
    'RateLimit-Policy': `"organization";q=${limit};w=${rateWindowSeconds}`,
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(Math.ceil((nowMs + Math.max(0, decision.resetMs)) / 1_000)),
  };
}

/** Rounds up to whole seconds, so that a client that waits this long is not refused again. */
export function secondsUntilReset(decision: RateDecision): number {
  return Math.max(1, Math.ceil(decision.resetMs / 1_000));
}

/**
 * For this long after a failure, the limiter does not ask Redis. While Redis hangs, only requests between two such
 * pauses wait for it.
 */
const pauseAfterFailureMs = 1_000;

export interface RateLimiterOptions {
  limits: Readonly<Record<ApiPlan, number>>;
  redis: RedisClient | undefined;
  clock: Clock;
  onError: (error: unknown) => void;
}

/**
 * Limits each organization in fixed windows of one minute. While Redis is unavailable, each process counts alone and
 * allows half the limit. So two processes together stay within the limit.
 */
export function createRateLimiter({ limits, redis, clock, onError }: RateLimiterOptions): RateLimiter {
  const plans = planNames.filter((plan): plan is ApiPlan => plan !== 'starter');
  const limiterPairs = plans.map((plan) => [plan, createPair(limits[plan], redis)] as const);
  const limiters = new Map<Plan, LimiterPair>(limiterPairs);
  const decide = createDecider(clock, onError);
  return {
    consume: (organizationId, plan) => decide(limiters.get(plan) as LimiterPair, countOne, organizationId),
    peek: (organizationId, plan) => decide(limiters.get(plan) as LimiterPair, look, organizationId),
  };
}

/** Counts one request of an organization against a separate limit. Never throws. */
export type RequestLimit = (organizationId: Uuid) => Promise<RateDecision>;

/** Limits some requests separately, for example those for one route, in the same windows. */
export function createRequestLimit(
  name: string,
  limit: number,
  { redis, clock, onError }: Omit<RateLimiterOptions, 'limits'>,
): RequestLimit {
  const limiters = createPair(limit, redis, `enterprise-api-${name}`);
  const decide = createDecider(clock, onError);
  return (organizationId) => decide(limiters, countOne, organizationId);
}

function createDecider(clock: Clock, onError: (error: unknown) => void) {
  let pausedUntilMs = 0;
  return async ({ shared, local }: LimiterPair, decide: Decide, organizationId: Uuid): Promise<RateDecision> => {
    if (shared !== undefined && clock.monotonic() >= pausedUntilMs) {
      try {
        return await decide(shared, organizationId, 'shared');
      } catch (error) {
        pausedUntilMs = clock.monotonic() + pauseAfterFailureMs;
        onError(error);
      }
    }
    return decide(local, organizationId, 'local');
  };
}

type Limiter = RateLimiterRedis | RateLimiterMemory;
interface LimiterPair {
  shared: RateLimiterRedis | undefined;
  local: RateLimiterMemory;
}

function createPair(limit: number, redis: RedisClient | undefined, keyPrefix = 'enterprise-api-rate'): LimiterPair {
  const window = { duration: rateWindowSeconds, keyPrefix };
  if (redis === undefined) return { shared: undefined, local: new RateLimiterMemory({ ...window, points: limit }) };
  const shared = new RateLimiterRedis({
    ...window,
    points: limit,
    storeClient: redis,
    rejectIfRedisNotReady: true,
    // An organization over its limit remains over it until the window ends. So do not ask Redis again.
    inMemoryBlockOnConsumed: limit + 1,
  });
  return { shared, local: new RateLimiterMemory({ ...window, points: Math.max(1, Math.floor(limit / 2)) }) };
}

type Decide = (limiter: Limiter, organizationId: Uuid, source: RateDecision['source']) => Promise<RateDecision>;

const countOne: Decide = async (limiter, organizationId, source) => {
  const limit = limiter.points;
  try {
    const state = await limiter.consume(organizationId);
    return { allowed: true, limit, remaining: state.remainingPoints, resetMs: state.msBeforeNext, source };
  } catch (refusal) {
    // The library rejects with its result if the limit is exceeded, and with an Error if its store fails.
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    return { allowed: false, limit, remaining: 0, resetMs: refusal.msBeforeNext, source };
  }
};

const look: Decide = async (limiter, organizationId, source) => {
  const limit = limiter.points;
  const state = await limiter.get(organizationId);
  if (state === null) return { allowed: true, limit, remaining: limit, resetMs: rateWindowSeconds * 1_000, source };
  const { consumedPoints, remainingPoints, msBeforeNext } = state;
  return { allowed: consumedPoints <= limit, limit, remaining: remainingPoints, resetMs: msBeforeNext, source };
};

/**
 * Maximum wait of a request for Redis. Longer than pauses of this process's event loop: after a false timeout, the
 * process would count alone and allow more than the limit.
 */
const answerWithinMs = 200;

/** Startup waits this long for Redis, because until then processes count alone and together exceed the shared limit. */
const readyWithinMs = 1_000;

/**
 * Connects to Redis; undefined without a URL. While Redis is unavailable, commands fail at once, because the limiter
 * then counts in this process.
 */
export async function openRateLimitStore(
  url: string | undefined,
  closers: Closers,
  onError: (error: Error) => void,
): Promise<RedisClient | undefined> {
  if (url === undefined) return undefined;
  const redis = connectRedis(url, {
    commandTimeout: answerWithinMs,
    // Requests in one event loop iteration share a socket write, which is the largest cost of a command.
    enableAutoPipelining: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    disconnectTimeout: answerWithinMs,
    retryStrategy: redisRetryDelayMs,
  });
  redis.on('error', onError);
  closers.add('rate limit store', () => redis.disconnect());
  const isReady = new Promise<void>((resolve) => redis.once('ready', resolve));
  await settledWithin(isReady, readyWithinMs);
  return redis;
}
