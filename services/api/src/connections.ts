import { createBatchedProducer } from '@enterprise-api/shared/events';
import {
  type Change,
  connectionSettings,
  createChangeFeed,
  createDatabase,
  createDatabaseClock,
  createPartitionLoop,
  type Database,
  type DatabaseClock,
  keepMeasuring,
} from '@enterprise-api/shared/ledger';
import { runPreflightChecks } from '@enterprise-api/shared/preflight';
import {
  createJobProducer,
  createNotifier,
  type NotifierOptions,
  type QueueBackend,
  selectQueueBackend,
} from '@enterprise-api/shared/queue';
import {
  type Clock,
  type Closers,
  createLimitedWarning,
  type Logger,
  settledWithin,
} from '@enterprise-api/shared/runtime';
import { openTracing, type Tracing } from '@enterprise-api/shared/tracing';
import { createLastUsed, type LastUsed } from './auth/last-used.ts';
import { markKeysUsed } from './auth/queries.ts';
import { createRateLimiter } from './auth/rate-limit.ts';
import { connectRateLimitStore } from './auth/rate-limit-store.ts';
import type { ApiConfig } from './config.ts';
import { createDatabaseHealth } from './core/database-health.ts';
import { createDatabasePing } from './core/database-ping.ts';
import { createForwarder } from './forwarding/forwarder.ts';
import type { IdentityTokens } from './identity/identity-tokens.ts';
import type { ApiMetrics } from './metrics.ts';
import { createHistoryReads, type HistoryReads } from './replica/history-reads.ts';

/** What every part is built with at start. */
export interface Foundation {
  config: ApiConfig;
  log: Logger;
  clock: Clock;
  closers: Closers;
}

/** Tells every process, this one first, that it may hold an outdated copy of something. */
export type NotifyOfChange = (change: Change) => Promise<void>;

const applicationName = 'enterprise-api';
/** Database connections of the process. */
const poolSize = 10;
/** One organization uses at most half of them at once. */
export const connectionsPerOrganization = poolSize / 2;
/** A change is published before the request is answered, unless that takes longer; caches expire by themselves. */
const publishWithinMs = 500;
const storeReadyWithinMs = 1_000;
/** How long a stop waits for a statement that hangs. */
const closeWithinMs = 500;

export async function openDatabase({ config, log, clock, closers }: Foundation) {
  const onError = createLimitedWarning(log, 'database connection lost');
  const settings = { ...config.ledger.pool, applicationName, onError };
  const db = createDatabase({ ...settings, poolSize });
  closers.add('database', () => db.destroy());
  const pinger = createDatabasePing(settings);
  closers.add('database ping', pinger.close);
  const databaseHealth = createDatabaseHealth({ ping: pinger.ping, clock });
  closers.add('database health', databaseHealth.close);
  const databaseClock = createDatabaseClock(clock);
  await runPreflightChecks({ db, pooled: settings.pooled, queue: queueOf(config), clock: databaseClock, log });
  const onClockError = createLimitedWarning(log, "database's clock not measured");
  closers.add('database clock', keepMeasuring(databaseClock, db, onClockError));
  const partitions = createPartitionLoop(db, createLimitedWarning(log, 'partitions could not be created'));
  closers.add('partition loop', partitions.stop, closeWithinMs);
  partitions.start();
  return { db, databaseClock, databaseHealth };
}

/** Where history lists are read. The process starts, and is ready, without its replica. */
export function openHistoryReads(
  { config, log, clock, closers }: Foundation,
  { db, metrics }: { db: Database; metrics: ApiMetrics },
): HistoryReads {
  const { replicaUrl, ledger } = config;
  if (replicaUrl === undefined) return (read) => read(db);
  const onError = createLimitedWarning(log, 'connection to the replica lost');
  const replica = createDatabase({ ...ledger.pool, url: replicaUrl, applicationName, onError, poolSize });
  metrics.registerPool('replica', replica);
  closers.add('replica', () => replica.destroy(), closeWithinMs);
  const onObstacle = createLimitedWarning(log, 'replica lags or cannot be read: lists are read from the primary');
  const reads = createHistoryReads({ primary: db, replica, clock, onRead: metrics.historyRead, onObstacle });
  closers.add('replica position', reads.stop, closeWithinMs);
  reads.start();
  return reads.history;
}

/** BullMQ sets the search path of its sessions, and listens on one: a pooler will not do. */
export function queueOf({ redisUrl, ledger }: ApiConfig): QueueBackend {
  return selectQueueBackend({ redisUrl, databaseUrl: ledger.directUrl });
}

/** A part of this process that changes concern. */
export interface ChangeListener {
  onChange(change: Change): void;
  /** Changes may have been missed. */
  onLost(): void;
}

export async function openChangeFeed(
  { config, log, closers }: Foundation,
  listeners: readonly ChangeListener[],
): Promise<NotifyOfChange> {
  const onChange = (change: Change) => {
    for (const listener of listeners) listener.onChange(change);
  };
  const feed = createChangeFeed({
    redisUrl: config.redisUrl,
    postgres: connectionSettings({ url: config.ledger.directUrl, applicationName }),
    onError: createLimitedWarning(log, 'change feed failed'),
  });
  closers.add('change feed', feed.close);
  await feed.subscribe(onChange, () => {
    for (const listener of listeners) listener.onLost();
  });
  return async (change) => {
    onChange(change);
    await settledWithin(feed.publish(change), publishWithinMs);
  };
}

/** Waits up to a second for Redis: until it is connected, requests are counted per process and exceed the shared limit. */
export async function openRateLimiter({ config, log, clock, closers }: Foundation) {
  const onError = createLimitedWarning(log, 'Redis unavailable; rate limits are counted per process');
  const redis = config.redisUrl === undefined ? undefined : connectRateLimitStore(config.redisUrl, onError);
  if (redis !== undefined) {
    closers.add('rate limit store', () => redis.disconnect());
    const isReady = new Promise<void>((resolve) => redis.once('ready', resolve));
    await settledWithin(isReady, storeReadyWithinMs);
  }
  return { rateLimiter: createRateLimiter({ limits: config.rateLimits, redis, clock, onError }), redis };
}

export function openEventProducer(
  { config, log, clock, closers }: Foundation,
  { db, databaseClock }: { db: Database; databaseClock: DatabaseClock },
  onOutcome: NotifierOptions['onOutcome'],
) {
  const onError = createLimitedWarning(log, 'queue unavailable');
  const producer = createJobProducer(queueOf(config), 'fanOut', onError);
  closers.add('event queue', () => producer.close());
  const notifier = createNotifier({ producer, clock, onOutcome });
  closers.add('notifier', notifier.flush);
  return createBatchedProducer({ db, notifier, clock: databaseClock });
}

/** The last that is closed of what sends anything: what others do while they close is recorded. */
export async function startTracing({ config, log, closers }: Foundation, { registry }: ApiMetrics) {
  const tracing = await openTracing(config.tracing, { serviceName: applicationName, log, registry });
  if (tracing !== undefined) closers.add('tracing', tracing.stop);
  return tracing;
}

export function openForwarder(
  { config, clock, closers }: Foundation,
  {
    identityTokens,
    metrics,
    tracing,
  }: { identityTokens: IdentityTokens; metrics: ApiMetrics; tracing: Tracing | undefined },
) {
  const forwarder = createForwarder({
    upstreams: config.upstreams,
    limits: config.forwardingLimits,
    ca: config.upstreamCa,
    trustedProxies: config.trustedProxies,
    clock,
    identityToken: identityTokens.tokenFor,
    tracing,
    onStart: metrics.forwardingStarted,
    onEnd: metrics.forwardingEnded,
    onPermit: metrics.upstreamPermit,
  });
  closers.add('forwarder', async () => forwarder.close());
  return forwarder;
}

/** Writes when keys were last used; what is not written yet is at the stop. */
export function openLastUsed({ log, clock, closers }: Foundation, db: Database): LastUsed {
  const onError = createLimitedWarning(log, 'last use of keys not written');
  const lastUsed = createLastUsed({ write: (uses) => markKeysUsed(db, uses), clock, onError });
  closers.add('last use of keys', lastUsed.flush);
  return lastUsed;
}
