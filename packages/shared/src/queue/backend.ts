import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  Queue,
  type QueueBaseOptions,
} from 'bullmq';
import { createPool } from '../ledger/database.ts';
import { connectRedis, redisAddress, sentinelOptions } from '../redis/index.ts';
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
  /** Ends the connections that BullMQ was given: it closes none of them itself. */
  end(): void;
}

/**
 * For producers, which must answer their callers: they fail at once instead of keeping commands for a Redis that is away.
 * A connection that has not answered for 5 s (a firewall dropped it) is replaced; TCP alone would need 15 minutes.
 *
 * @param isWakeUp the jobs may be lost without harm; any others are on disk when they are added, as far as the backend can
 */
export function producerBinding(backend: QueueBackend, queue: string, isWakeUp = false): QueueBinding {
  const redis = { enableOfflineQueue: false, maxRetriesPerRequest: 1, disconnectTimeout: 100, socketTimeout: 5_000 };
  return bind(backend, queue, redis, {
    poolSize: 2,
    serverSettings: isWakeUp ? { ...committedLater, ...byIndex } : {},
  });
}

/**
 * For workers, which wait for Redis for as long as it takes. What a crash of PostgreSQL makes it forget is done again. One
 * connection of the pool listens for jobs.
 *
 * @param isWakeUp as for the producer
 */
export function workerBinding(backend: QueueBackend, queue: string, isWakeUp = false): QueueBinding {
  const serverSettings = isWakeUp ? { ...committedLater, ...byIndex } : committedLater;
  return bind(backend, queue, { maxRetriesPerRequest: null }, { poolSize: 4, serverSettings });
}

/**
 * A job that wakes a worker may be lost, and one that is taken or finished may come again: no commit need wait for the disk.
 * A fifth of what an event cost PostgreSQL were such waits.
 */
const committedLater = { synchronous_commit: 'off' };

/** The table is nearly always empty. A statement that was planned then would read the whole of it when jobs wait. */
const byIndex = { enable_seqscan: 'off', enable_bitmapscan: 'off' };

function bind(
  backend: QueueBackend,
  queue: string,
  redis: object,
  postgres: { poolSize: number; serverSettings: Readonly<Record<string, string>> },
): QueueBinding {
  if (backend.kind === 'postgres') return bindPostgres(backend.url, postgres);
  const address = redisAddress(backend.url);
  const settings = { retryStrategy: redisRetryDelayMs, ...redis };
  // One hash tag per queue: its keys share a slot, so that a Redis Cluster can hold it.
  const prefix = `{enterprise-api-${queue}}`;
  if (address.kind === 'cluster') {
    const cluster = connectRedis(backend.url, settings);
    return { options: { connection: cluster, prefix }, factory: createRedisBackend, end: () => cluster.disconnect() };
  }
  const server = address.kind === 'sentinel' ? sentinelOptions(address) : { url: backend.url };
  return {
    options: { connection: { ...server, ...settings }, prefix },
    factory: createRedisBackend,
    end: () => undefined,
  };
}

function bindPostgres(
  url: string,
  { poolSize, serverSettings }: { poolSize: number; serverSettings: Readonly<Record<string, string>> },
): QueueBinding {
  const connection = createPool({
    url,
    pooled: false,
    applicationName: 'enterprise-api-queue',
    poolSize,
    serverSettings: { search_path: 'bullmq', ...serverSettings },
    // The connection that listens for jobs is silent while there are none.
    silentAfterMs: 0,
  });
  return { options: { connection }, factory: createPostgresBackend, end: () => void connection.end() };
}

/** A queue, and what ends it with its connections. */
export type OpenQueue = ReturnType<typeof openQueue>;

/** How long a stop waits for a backend that does not answer. */
const closeWithinMs = 1_000;

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
      // Closing sends QUIT, which fails while the connection is being made and is never answered by a backend that hangs.
      // The connection is then cut, or ioredis would reconnect for ever.
      let isClosed = false;
      const closing = queue.close().then(() => {
        isClosed = true;
      }, onError);
      await settledWithin(closing, closeWithinMs);
      if (!isClosed) void queue.disconnect().catch(() => undefined);
      end();
    },
  };
}
