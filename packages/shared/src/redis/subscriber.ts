import { Redis } from 'ioredis';
import { redisRetryDelayMs } from '../runtime/backoff.ts';
import type { RedisAddress, RedisNode } from '../runtime/redis-address.ts';
import { connectRedis, nodeOptions, type RedisClientOptions, redisAddress } from './connect.ts';

/** A connection for subscriptions that reconnects until it is closed. */
export interface RedisSubscriber {
  disconnect(): void;
}

interface SubscriberOptions {
  /** Subscribes to the channels. Called for each new connection. Messages between two connections are lost. */
  onReady: (client: Redis) => void;
  onMessage: (message: string) => void;
  onError: (error: Error) => void;
  /** How long a closed connection may stay half-open, in milliseconds. */
  disconnectTimeout: number;
}

/**
 * Opens a connection that receives messages, whichever node they were published on. In a Cluster, connects to a single
 * node. After a disconnect, connects to the next node. ioredis's own Cluster subscriber changes nodes silently, so lost
 * messages would go unnoticed.
 */
export function connectSubscriber(url: string, options: SubscriberOptions): RedisSubscriber {
  const address = redisAddress(url);
  if (address.kind === 'cluster') return subscribeInTurn(address, options);
  const client = connectRedis(url, { ...subscribing(options), retryStrategy: redisRetryDelayMs }) as Redis;
  listen(client, options);
  return client;
}

/**
 * Disables ioredis's own resubscription, which does not catch rejections. A connection that closes meanwhile would end
 * the process.
 */
function subscribing({ disconnectTimeout }: SubscriberOptions): RedisClientOptions {
  return { maxRetriesPerRequest: null, disconnectTimeout, autoResubscribe: false };
}

function listen(client: Redis, { onReady, onMessage, onError }: SubscriberOptions): void {
  client.on('error', onError);
  client.on('message', (_channel, message) => onMessage(message));
  client.on('ready', () => onReady(client));
}

function subscribeInTurn(
  address: Extract<RedisAddress, { kind: 'cluster' }>,
  options: SubscriberOptions,
): RedisSubscriber {
  const nodes = new Map(address.nodes.map((node) => [keyOf(node), node]));
  let client: Redis | undefined;
  let again: NodeJS.Timeout | undefined;
  let isClosed = false;
  let failures = 0;
  const connect = () => {
    const [[key, node] = ['', address.nodes[0]]] = nodes;
    nodes.delete(key);
    if (node !== undefined) nodes.set(key, node);
    client = new Redis({ ...node, ...nodeOptions(address), ...subscribing(options), retryStrategy: () => null });
    const onReady = (ready: Redis) => {
      failures = 0;
      void learnNodes(ready, nodes).finally(() => options.onReady(ready));
    };
    listen(client, { ...options, onReady });
    client.once('end', () => {
      failures += 1;
      if (!isClosed) again = setTimeout(connect, redisRetryDelayMs(failures)).unref();
    });
  };
  connect();
  return {
    disconnect: () => {
      isClosed = true;
      clearTimeout(again);
      client?.disconnect();
    },
  };
}

/** Adds the cluster's other nodes to `nodes`, because `REDIS_URL` may name only some of them. */
async function learnNodes(client: Redis, nodes: Map<string, RedisNode>): Promise<void> {
  try {
    for (const [, , ...replicas] of await client.cluster('SLOTS')) {
      for (const [host, port] of replicas) {
        const node = { host, port };
        if (host && !nodes.has(keyOf(node))) nodes.set(keyOf(node), node);
      }
    }
  } catch {
    // If the cluster does not answer, the nodes known so far suffice.
  }
}

function keyOf({ host, port }: RedisNode): string {
  return `${host}:${port}`;
}
