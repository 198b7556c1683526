import { setTimeout as pause } from 'node:timers/promises';
import {
  type BackendFactory,
  createPostgresBackend,
  type IQueueBackend,
  type PostgresConnectionOptions,
  type PostgresQueueBackend,
  type QueueBaseOptions,
} from 'bullmq';
import type { RedisOptions } from 'ioredis';
import { prepareThose } from '../ledger/prepared.ts';
import { sessionTimeoutsMs } from '../ledger/session-timeouts.ts';
import { connectRedis, redisAddress, sentinelOptions } from '../redis/index.ts';
import { redisRetryDelayMs } from '../runtime/backoff.ts';
import { createQuietRedisBackend } from './quiet-redis-backend.ts';

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
  return bind(backend, queue, redis, { max: 2, ...(isWakeUp && committedLater) });
}

/** For workers, which wait for Redis for as long as it takes. What a crash of PostgreSQL makes it forget is done again. */
export function workerBinding(backend: QueueBackend, queue: string): QueueBinding {
  return bind(backend, queue, { maxRetriesPerRequest: null }, { max: 3, ...committedLater });
}

/**
 * A job that wakes a worker may be lost, and one that is taken or finished may come again: no commit need wait for the disk.
 * A fifth of what an event cost PostgreSQL were such waits.
 */
const committedLater = { options: '-c synchronous_commit=off' };

function bind(
  backend: QueueBackend,
  queue: string,
  redis: object,
  postgres: { max: number; options?: string },
): QueueBinding {
  if (backend.kind === 'postgres') {
    const connection = {
      connectionString: backend.url,
      application_name: 'enterprise-api-queue',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      ...sessionTimeoutsMs,
      ...postgres,
    };
    return { options: { connection }, factory: createReconnectingBackend };
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

/** Between attempts to reach the database for the first time. */
const reconnectAfterMs = 100;

/**
 * BullMQ keeps the result of its first connection for ever, also when that is an error: a producer would fail until its
 * process ends, and a worker's loop would read that result 200,000 times a second without a turn of the event loop in
 * between, so that no timer and no signal gets through. Here a failure takes 100 ms, and the next caller connects again.
 *
 * BullMQ listens for errors on idle connections only. One that lost its server between two statements of a transaction
 * ended the process; with a listener its next statement fails, and the pool drops it.
 *
 * BullMQ sends its statements as text, to be parsed and planned at each use; here a connection does that once for each.
 */
const createReconnectingBackend: BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> = (...args) => {
  const backend = createPostgresBackend(...args);
  const { connection } = backend;
  connection.pool.on('connect', (client) => {
    client.on('error', () => undefined);
    prepareThose(client as Parameters<typeof prepareThose>[0], (_text, values) => Array.isArray(values));
  });
  const waitUntilReady = connection.waitUntilReady.bind(connection);
  connection.waitUntilReady = async () => {
    try {
      await waitUntilReady();
    } catch (error) {
      await pause(reconnectAfterMs);
      // Private in BullMQ's types; nothing else makes it connect again.
      (connection as unknown as { readyPromise: undefined }).readyPromise = undefined;
      throw error;
    }
  };
  return backend;
};
