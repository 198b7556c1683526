import type { BackendFactory, IQueueBackend, QueueBaseOptions } from 'bullmq';
import type { RedisOptions } from 'ioredis';
import { sessionTimeoutsMs } from '../ledger/session-timeouts.ts';
import { connectRedis, redisAddress, sentinelOptions } from '../redis/index.ts';
import { redisRetryDelayMs } from '../runtime/backoff.ts';
import { createQuietPostgresBackend } from './quiet-postgres-backend.ts';
import { createQuietRedisBackend } from './quiet-redis-backend.ts';
import { createReconnectingBackend } from './reconnecting-postgres-backend.ts';

/** Where BullMQ keeps its jobs: Redis when there is one, else its own tables in the ledger's database. */
export type QueueBackend = { kind: 'redis'; url: string } | { kind: 'postgres'; url: string };

/** Chooses the backend from the settings. */
export function selectQueueBackend(settings: { redisUrl: string | undefined; databaseUrl: string }): QueueBackend {
  return settings.redisUrl === undefined
    ? { kind: 'postgres', url: settings.databaseUrl }
    : { kind: 'redis', url: settings.redisUrl };
}

/** The last two arguments of BullMQ's `Queue` and `Worker`. */
export interface QueueBinding {
  // biome-ignore lint/suspicious/noExplicitAny: BullMQ types its connection per backend; this is where they meet.
  options: QueueBaseOptions<any> & { prefix?: string };
  // biome-ignore lint/suspicious/noExplicitAny: see above
  factory: BackendFactory<IQueueBackend, any>;
}

/**
 * For producers, which must answer their callers: they fail at once instead of keeping commands for a Redis that is away.
 * A connection that has not answered for 5 s (a firewall dropped it) is replaced; TCP alone would need 15 minutes.
 *
 * @param isWakeUp the jobs may be lost without harm; any others are on disk when they are added, as far as the backend can
 */
export function producerBinding(backend: QueueBackend, queue: string, isWakeUp = false): QueueBinding {
  const redis = { enableOfflineQueue: false, maxRetriesPerRequest: 1, disconnectTimeout: 100, socketTimeout: 5_000 };
  return bind(backend, queue, isWakeUp, redis, { max: 2, options: isWakeUp ? [...committedLater, ...byIndex] : [] });
}

/**
 * For workers, which wait for Redis for as long as it takes. What a crash of PostgreSQL makes it forget is done again.
 *
 * @param isWakeUp as for the producer
 */
export function workerBinding(backend: QueueBackend, queue: string, isWakeUp = false): QueueBinding {
  const options = isWakeUp ? [...committedLater, ...byIndex] : committedLater;
  return bind(backend, queue, isWakeUp, { maxRetriesPerRequest: null }, { max: 3, options });
}

/**
 * A job that wakes a worker may be lost, and one that is taken or finished may come again: no commit need wait for the disk.
 * A fifth of what an event cost PostgreSQL were such waits.
 */
const committedLater = ['synchronous_commit=off'];

/** The table is nearly always empty. A statement that was planned then would read the whole of it when jobs wait. */
const byIndex = ['enable_seqscan=off', 'enable_bitmapscan=off'];

function bind(
  backend: QueueBackend,
  queue: string,
  isWakeUp: boolean,
  redis: object,
  { max, options }: { max: number; options: readonly string[] },
): QueueBinding {
  if (backend.kind === 'postgres') {
    const connection = {
      connectionString: backend.url,
      application_name: 'enterprise-api-queue',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      ...sessionTimeoutsMs,
      max,
      options: options.map((setting) => `-c ${setting}`).join(' '),
    };
    return { options: { connection }, factory: isWakeUp ? createQuietPostgresBackend : createReconnectingBackend };
  }
  const address = redisAddress(backend.url);
  const connection = {
    ...(address.kind === 'sentinel' ? sentinelOptions(address) : { url: backend.url }),
    retryStrategy: redisRetryDelayMs,
    ...redis,
  };
  return {
    // One hash tag per queue: its keys share a slot, so that a Redis Cluster can hold it.
    options: { connection, prefix: `{enterprise-api-${queue}}` },
    factory: address.kind === 'cluster' ? createClusterBackend : createQuietRedisBackend,
  };
}

/**
 * BullMQ makes connections to one server only. That to a Cluster is made here, and ends with its backend: BullMQ closes
 * none that it was given.
 */
const createClusterBackend: BackendFactory<IQueueBackend, RedisOptions & { url: string }> = (name, options, kind) => {
  const { url, ...settings } = options.connection as RedisOptions & { url: string };
  const cluster = connectRedis(url, settings);
  const backend = createQuietRedisBackend(name, { ...options, connection: cluster }, kind);
  const [close, disconnect] = [backend.close.bind(backend), backend.disconnect.bind(backend)];
  const end = () => cluster.disconnect();
  backend.close = (force) => close(force).finally(end);
  backend.disconnect = async () => {
    // BullMQ would wait for the end of a connection that has not been made yet.
    end();
    await disconnect();
  };
  return backend;
};
