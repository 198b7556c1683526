import { setTimeout as pause } from 'node:timers/promises';
import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  type PostgresConnectionOptions,
  type PostgresQueueBackend,
  type QueueBaseOptions,
} from 'bullmq';

/** Where BullMQ keeps its jobs: Redis when there is one, else its own tables in the ledger's database. */
export type QueueBackend = { kind: 'redis'; url: string } | { kind: 'postgres'; url: string };

/** Chooses the backend from the settings. Nothing above this file knows which one it is. */
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
 * A producer must answer its caller: it fails at once instead of queueing commands for a Redis that is away, and a
 * connection that owes an answer for 5 s (a firewall has forgotten it) is replaced, which TCP alone would do in a quarter of
 * an hour.
 */
export function producerBinding(backend: QueueBackend, queue: string): QueueBinding {
  const redis = { enableOfflineQueue: false, maxRetriesPerRequest: 1, disconnectTimeout: 100, socketTimeout: 5_000 };
  return bind(backend, queue, redis, 2);
}

/** A worker waits for its Redis for as long as it takes. */
export function workerBinding(backend: QueueBackend, queue: string): QueueBinding {
  return bind(backend, queue, { maxRetriesPerRequest: null }, 3);
}

function bind(backend: QueueBackend, queue: string, redis: object, poolSize: number): QueueBinding {
  if (backend.kind === 'postgres') {
    const connection = {
      connectionString: backend.url,
      application_name: 'enterprise-api-queue',
      max: poolSize,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      idle_in_transaction_session_timeout: 10_000,
      lock_timeout: 5_000,
      statement_timeout: 30_000,
    };
    return { options: { connection }, factory: createPatientBackend };
  }
  // ioredis' own strategy climbs to 20 s between tries, which a worker would then need to notice that Redis is back.
  const retryStrategy = (times: number) => Math.min(times * 100, 2_000);
  return {
    // One hash tag per queue: its keys share a slot, so that a Redis Cluster can hold it.
    options: { connection: { url: backend.url, retryStrategy, ...redis }, prefix: `{enterprise-api-${queue}}` },
    factory: createRedisBackend,
  };
}

/** Between tries to reach the database for the first time. */
const againAfterMs = 100;

/**
 * BullMQ keeps the answer to its first connection for ever, also when that is an error: a producer would fail until its
 * process ends, and a worker's loop would ask for that answer two hundred thousand times a second without a turn of the
 * event loop in between, deaf to timers and signals. Here a failure takes a moment, and the next caller tries again.
 *
 * It also listens to its connections while they are idle, and to none that is in a transaction of its own: one that
 * lost its server between two statements ended the process. Its next statement fails, and the pool drops it.
 */
const createPatientBackend: BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> = (...args) => {
  const backend = createPostgresBackend(...args);
  const { connection } = backend;
  connection.pool.on('connect', (client) => client.on('error', () => undefined));
  const waitUntilReady = connection.waitUntilReady.bind(connection);
  connection.waitUntilReady = async () => {
    try {
      await waitUntilReady();
    } catch (error) {
      await pause(againAfterMs);
      // Private in its types; there is no other way to make it ask again.
      (connection as unknown as { readyPromise: undefined }).readyPromise = undefined;
      throw error;
    }
  };
  return backend;
};
