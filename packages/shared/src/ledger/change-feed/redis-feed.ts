import { Redis } from 'ioredis';
import { redisRetryDelayMs } from '../../runtime/backoff.ts';
import type { ChangeFeed } from './change-feed.ts';
import { changeChannel, deliverChange } from './message.ts';

/** How long a connection that we close may linger; nothing of ours waits for an answer then. */
const disconnectTimeout = 100;

export function createRedisFeed(url: string, onError: (error: Error) => void): ChangeFeed {
  const publisher = new Redis(url, {
    retryStrategy: redisRetryDelayMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: 1_000,
    disconnectTimeout,
  });
  let subscriber: Redis | undefined;
  let closed = false;
  const ignoreClosing = (error: Error) => {
    if (!closed) onError(error);
  };
  publisher.on('error', onError);
  return {
    publish: async (change) => {
      await publisher.publish(changeChannel, JSON.stringify(change)).catch(onError);
    },
    subscribe: async (listener, lost) => {
      const client = new Redis(url, {
        retryStrategy: redisRetryDelayMs,
        maxRetriesPerRequest: null,
        disconnectTimeout,
        // ioredis would do it without catching: closing the feed in the middle of it would end the process.
        autoResubscribe: false,
      });
      client.on('error', onError);
      client.on('message', (_channel, message) => deliverChange(message, listener));
      // What was published before we listen, again, is gone.
      client.on('ready', () => void client.subscribe(changeChannel).then(lost, ignoreClosing));
      subscriber = client;
    },
    close: async () => {
      closed = true;
      publisher.disconnect();
      subscriber?.disconnect();
    },
  };
}
