import { type AnnouncerOptions, createAnnouncer, createEventProducer } from '@enterprise-api/shared/events';
import {
  type Change,
  connectionSettings,
  createChangeFeed,
  createDatabase,
  createDatabaseClock,
  type Database,
  type DatabaseClock,
  keepMeasuring,
} from '@enterprise-api/shared/ledger';
import { checkSurroundings } from '@enterprise-api/shared/preflight';
import { createJobProducer, selectQueueBackend } from '@enterprise-api/shared/queue';
import {
  type Clock,
  type Closers,
  createLimitedWarning,
  type Logger,
  settledWithin,
} from '@enterprise-api/shared/runtime';
import type { KeyCache } from './auth/key-cache.ts';
import { createRateLimiter, type RateLimiter } from './auth/rate-limit.ts';
import { connectRateLimitStore } from './auth/rate-limit-store.ts';
import type { ApiConfig } from './config.ts';
import { createAvailability } from './core/database-health.ts';
import { createDatabasePing } from './core/database-ping.ts';
import { keepPartitions } from './core/partitions.ts';

/** What everything that is built at start is built with. */
export interface Foundation {
  config: ApiConfig;
  log: Logger;
  clock: Clock;
  closers: Closers;
}

/** Tells every process, this one first, that something it may have a copy of has changed. */
export type Announce = (change: Change) => Promise<void>;

const applicationName = 'enterprise-api';
const poolSize = 10;
/** A change is pushed before its answer, unless the push takes longer: caches then notice by themselves. */
const announceWithinMs = 500;
const storeReadyWithinMs = 1_000;

export async function openDatabase({ config, log, clock, closers }: Foundation) {
  const onError = createLimitedWarning(log, 'database connection lost');
  const settings = { url: config.databaseUrl, applicationName, onError };
  const db = createDatabase({ ...settings, poolSize });
  closers.add('database', () => db.destroy());
  const pinger = createDatabasePing(settings);
  closers.add('database ping', pinger.close);
  const availability = createAvailability({ ping: pinger.ping, clock });
  closers.add('availability', availability.close);
  const queue = selectQueueBackend({ redisUrl: config.redisUrl, databaseUrl: config.databaseUrl });
  const databaseClock = createDatabaseClock(clock);
  await checkSurroundings({ db, queue, clock: databaseClock, log });
  const onClockError = createLimitedWarning(log, "database's clock not measured");
  closers.add('database clock', keepMeasuring(databaseClock, db, onClockError));
  await keepPartitions(db, closers, createLimitedWarning(log, 'partitions not created'));
  return { db, databaseClock, availability };
}

export async function openChangeFeed({ config, log, closers }: Foundation, keyCache: KeyCache): Promise<Announce> {
  const feed = createChangeFeed({
    redisUrl: config.redisUrl,
    postgres: connectionSettings({ url: config.databaseUrl, applicationName }),
    onError: createLimitedWarning(log, 'change feed failed'),
  });
  closers.add('change feed', feed.close);
  await feed.subscribe(keyCache.onChange, keyCache.onLost);
  return async (change) => {
    keyCache.onChange(change);
    await settledWithin(feed.publish(change), announceWithinMs);
  };
}

/** Waits a moment for Redis: what is allowed before it is there would be allowed beyond the common limit. */
export async function openRateLimiter({ config, log, clock, closers }: Foundation): Promise<RateLimiter> {
  const onError = createLimitedWarning(log, 'rate limits are counted per process: Redis does not answer');
  const redis = config.redisUrl === undefined ? undefined : connectRateLimitStore(config.redisUrl, onError);
  if (redis !== undefined) {
    closers.add('rate limit store', () => redis.disconnect());
    const isReady = new Promise<void>((resolve) => redis.once('ready', resolve));
    await settledWithin(isReady, storeReadyWithinMs);
  }
  return createRateLimiter({ limits: config.rateLimits, redis, clock, onError });
}

export function openEventProducer(
  { config, log, clock, closers }: Foundation,
  { db, databaseClock }: { db: Database; databaseClock: DatabaseClock },
  onOutcome: AnnouncerOptions['onOutcome'],
) {
  const onError = createLimitedWarning(log, 'queue does not answer');
  const producer = createJobProducer(selectQueueBackend(config), 'takeEvents', onError);
  closers.add('event queue', () => producer.close());
  return createEventProducer({ db, announcer: createAnnouncer({ producer, clock, onOutcome }), clock: databaseClock });
}
