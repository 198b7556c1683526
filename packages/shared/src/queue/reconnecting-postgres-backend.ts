import { setTimeout as pause } from 'node:timers/promises';
import {
  type BackendFactory,
  createPostgresBackend,
  type PostgresConnectionOptions,
  type PostgresQueueBackend,
} from 'bullmq';
import { prepareThose } from '../ledger/prepared.ts';

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
export const createReconnectingBackend: BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> = (...args) => {
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
