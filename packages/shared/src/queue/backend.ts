import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  Queue,
  type QueueBaseOptions,
} from 'bullmq';
import { createPool } from '../ledger/database.ts';
import { connectRedis, disconnectTimeout, type RedisClientOptions } from '../redis/index.ts';
import { redisRetryDelayMs } from '../runtime/backoff.ts';
import { settledWithin } from '../runtime/index.ts';

/** BullMQ keeps its jobs in Redis if `REDIS_URL` is set, else in its own tables in the ledger's database. */
export type QueueBackend = { kind: 'redis'; url: string } | { kind: 'postgres'; url: string };

export function selectQueueBackend(settings: { redisUrl: string | undefined; databaseUrl: string }): QueueBackend {
  return settings.redisUrl === undefined
    ? { kind: 'postgres', url: settings.databaseUrl }
    : { kind: 'redis', url: settings.redisUrl };
}

export interface QueueBinding {
  /** `options` and `factory` are the last two arguments of BullMQ's `Queue` and `Worker`. */
  // biome-ignore lint/suspicious/noExplicitAny: BullMQ types its connection per backend; this type covers both.
  options: QueueBaseOptions<any> & { prefix?: string };
  // biome-ignore lint/suspicious/noExplicitAny: as for `options`
  factory: BackendFactory<IQueueBackend, any>;
  /** Ends the connection, which BullMQ never closes. Takes at most a second, and never rejects. */
  end(): Promise<void>;
}

/**
 * Connects producers, which must answer their callers. If Redis is unavailable, commands fail at once instead of being
 * queued. After 5 s without an answer, ioredis replaces the connection: a firewall may have dropped it. TCP alone would
 * need 15 minutes.
 *
 * @param isWakeUp true if losing the jobs does no harm. Otherwise the backend stores them on disk before it answers, as
 *   far as it can
 */
export function producerBinding(backend: QueueBackend, queue: string, isWakeUp = false): QueueBinding {
  const redis = { enableOfflineQueue: false, maxRetriesPerRequest: 1, disconnectTimeout, socketTimeout: 5_000 };
  return backend.kind === 'postgres'
    ? bindPostgres(backend.url, 2, isWakeUp ? committedLater : {})
    : bindRedis(backend.url, queue, redis);
}

/**
 * Connects workers, which wait for Redis without a limit. If a crash of PostgreSQL loses commits, workers repeat the
 * lost work.
 */
export function workerBinding(backend: QueueBackend, queue: string): QueueBinding {
  return backend.kind === 'postgres'
    ? bindPostgres(backend.url, 4, committedLater)
    : bindRedis(backend.url, queue, { maxRetriesPerRequest: null });
}

/**
 * A lost wake-up job or a repeated job does no harm, so no commit needs to wait for the disk. Waiting for the disk was
 * a fifth of PostgreSQL's cost per event.
 */
const committedLater = { synchronous_commit: 'off' };

/**
 * BullMQ's tables are nearly always empty. A plan made for an empty table would read the whole table when jobs wait.
 */
const settingsOfAll = { search_path: 'bullmq', enable_seqscan: 'off', enable_bitmapscan: 'off' };

const endWithinMs = 1_000;

function bindRedis(url: string, queue: string, settings: RedisClientOptions): QueueBinding {
  const connection = connectRedis(url, { retryStrategy: redisRetryDelayMs, ...settings });
  // Ignore errors here, because BullMQ reports them while it uses the connection.
  connection.on('error', () => undefined);
  return {
    // The hash tag puts all keys of a queue into one slot, so that a Redis Cluster can hold the queue.
    options: { connection, prefix: `{enterprise-api-${queue}}` },
    factory: createRedisBackend,
    end: async () => {
      // QUIT lets commands finish. It fails during connecting, and a backend that hangs never answers it.
      await settledWithin(connection.quit(), endWithinMs);
      connection.disconnect();
    },
  };
}

/** A worker keeps one connection of its pool to listen for jobs. */
function bindPostgres(url: string, poolSize: number, settings: Readonly<Record<string, string>>): QueueBinding {
  const connection = createPool({
    url,
    applicationName: 'enterprise-api-queue',
    poolSize,
    serverSettings: { ...settingsOfAll, ...settings },
    preparesAll: true,
    // No limit, because the connection that listens for jobs is silent while no job arrives.
    silentAfterMs: 0,
  });
  return {
    options: { connection },
    factory: createPostgresBackend,
    end: async () => void (await settledWithin(connection.end(), endWithinMs)),
  };
}

/** The maximum number of jobs per command, because the backend serves no other client during a command. */
export const jobsPerCommand = 1_000;

export type OpenQueue = ReturnType<typeof openQueue>;

/** Opens a queue to add or inspect jobs. If the backend is unavailable, the first command fails. */
export function openQueue(backend: QueueBackend, name: string, onError: (error: Error) => void, isWakeUp = false) {
  const { options, factory, end } = producerBinding(backend, name, isWakeUp);
  // BullMQ appends every state change of every job to a stream that this product never reads. Keep one entry.
  const queue = new Queue(name, { ...options, streams: { events: { maxLen: 1 } } }, factory);
  queue.on('error', onError);
  return {
    queue,
    /** Never rejects. Cuts the connection if the backend does not close it within a second. */
    close: async (): Promise<void> => {
      await queue.close().catch(onError);
      await end();
    },
  };
}
