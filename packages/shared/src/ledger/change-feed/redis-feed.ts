import { connectRedis, connectSubscriber, disconnectTimeout, type RedisSubscriber } from '../../redis/index.ts';
import { redisRetryDelayMs } from '../../runtime/backoff.ts';
import type { ChangeFeed } from './change-feed.ts';
import { changeChannel, deliverChange } from './message.ts';

export function createRedisFeed(url: string, onError: (error: Error) => void): ChangeFeed {
  const publisher = connectRedis(url, {
    retryStrategy: redisRetryDelayMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: 1_000,
    disconnectTimeout,
  });
  let subscriber: RedisSubscriber | undefined;
  let isClosed = false;
  const ignoreClosing = (error: Error) => {
    if (!isClosed) onError(error);
  };
  publisher.on('error', onError);
  return {
    publish: async (change) => {
      await publisher.publish(changeChannel, JSON.stringify(change)).catch(onError);
    },
    subscribe: async (listener, lost) => {
      subscriber = connectSubscriber(url, {
        onMessage: (message) => deliverChange(message, listener),
        // Changes published before the subscription was restored are lost.
        onReady: (client) => void client.subscribe(changeChannel).then(lost, ignoreClosing),
        onError,
        disconnectTimeout,
      });
    },
    close: async () => {
      isClosed = true;
      publisher.disconnect();
      subscriber?.disconnect();
    },
  };
}
