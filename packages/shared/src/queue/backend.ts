import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  Queue,
  type QueueBaseOptions,
} from 'bullmq';
import { createPool } from '../ledger/database.ts';
import { connectRedis, type RedisClientOptions } from '../redis/index.ts';
import { redisRetryDelayMs } from '../runtime/backoff.ts';
import { settledWithin } from '../runtime/index.ts';

/** Where BullMQ keeps its jobs: Redis when there is one, else its own tables in the ledger's database. */
export type QueueBackend = { kind: 'redis'; url: string } | { kind: 'postgres'; url: string };

/** Chooses the backend from the settings. */
export function selectQueueBackend(settings: { redisUrl: string | undefined; databaseUrl: string }): QueueBackend {
  return settings.redisUrl === undefined
    ? { kind: 'postgres', url: settings.databaseUrl }
    : { kind: 'redis', url: settings.redisUrl };
}

/** How BullMQ's `Queue` and `Worker` reach their jobs. */
export interface QueueBinding {
  /** Their last two arguments. */
  // biome-ignore lint/suspicious/noExplicitAny: BullMQ types its connection per backend; this is where they meet.
  options: QueueBaseOptions<any> & { prefix?: string };
  // biome-ignore lint/suspicious/noExplicitAny: see above
  factory: BackendFactory<IQueueBackend, any>;
  /** Ends the connection that BullMQ was given: it closes none itself. Takes a second at most, and never rejects. */
  end(): Promise<void>;
}

/**
 * For producers, which must answer their callers: they fail at once instead of keeping commands for a Redis that is away.
 * A connection that has not answered for 5 s (a firewall dropped it) is replaced; TCP alone would need 15 minutes.
 *
 * @param isWakeUp the jobs may be lost without harm; any others are on disk when they are added, as far as the backend can
 */
export function producerBinding(backend: QueueBackend, queue: string, isWakeUp = false): QueueBinding {
  const redis = { enableOfflineQueue: false, maxRetriesPerRequest: 1, disconnectTimeout: 100, socketTimeout: 5_000 };
  return backend.kind === 'postgres'
    ? bindPostgres(backend.url, 2, isWakeUp ? committedLater : {})
    : bindRedis(backend.url, queue, redis);
}

/** For workers, which wait for Redis for as long as it takes. What a crash of PostgreSQL makes it forget is done again. */
export function workerBinding(backend: QueueBackend, queue: string): QueueBinding {
  return backend.kind === 'postgres'
    ? bindPostgres(backend.url, 4, committedLater)
    : bindRedis(backend.url, queue, { maxRetriesPerRequest: null });
}

/**
 * A job that wakes a worker may be lost, and one that is taken or finished may come again: no commit need wait for the disk.
 * A fifth of what an event cost PostgreSQL were such waits.
 */
const committedLater = { synchronous_commit: 'off' };

/** BullMQ's tables are nearly always empty. A statement that was planned then would read the whole of one when jobs wait. */
const settingsOfAll = { search_path: 'bullmq', enable_seqscan: 'off', enable_bitmapscan: 'off' };

/** How long a stop waits for a backend that does not answer. */
const endWithinMs = 1_000;

function bindRedis(url: string, queue: string, settings: RedisClientOptions): QueueBinding {
  const connection = connectRedis(url, { retryStrategy: redisRetryDelayMs, ...settings });
  // BullMQ reports its errors while it uses it.
  connection.on('error', () => undefined);
  return {
    // One hash tag per queue: its keys share a slot, so that a Redis Cluster can hold it.
    options: { connection, prefix: `{enterprise-api-${queue}}` },
    factory: createRedisBackend,
    end: async () => {
      // QUIT lets commands end. It fails while the connection is being made, and a backend that hangs never answers it.
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
    // The connection that listens for jobs is silent while there are none.
    silentAfterMs: 0,
  });
  return {
    options: { connection },
    factory: createPostgresBackend,
    end: async () => void (await settledWithin(connection.end(), endWithinMs)),
  };
}

/** A queue, and what ends it with its connections. */
export type OpenQueue = ReturnType<typeof openQueue>;

/** Opens a queue to add jobs to it or to ask it. Its first command fails when the backend is away. */
export function openQueue(backend: QueueBackend, name: string, onError: (error: Error) => void, isWakeUp = false) {
  const { options, factory, end } = producerBinding(backend, name, isWakeUp);
  // BullMQ appends every state change of every job to a stream, which nothing here reads: keep it short.
  const queue = new Queue(name, { ...options, streams: { events: { maxLen: 100 } } }, factory);
  queue.on('error', onError);
  return {
    queue,
    /** Never rejects. What a backend that hangs does not close within a second is cut. */
    close: async (): Promise<void> => {
      await queue.close().catch(onError);
      await end();
    },
  };
}
