import { Redis } from 'ioredis';
import { Client, type ClientConfig } from 'pg';
import { z } from 'zod';

/** Something that processes keep a copy of has changed: drop the copy. */
export interface Change {
  kind: 'api_key' | 'organization' | 'webhook';
  /** UUID of the object. */
  id: string;
}

const changeSchema = z.strictObject({ kind: z.enum(['api_key', 'organization', 'webhook']), id: z.uuid() });

const channel = 'enterprise_api_changes';

/** Pushes changes to the caches of every process. Best effort: caches expire by themselves within 5 s. */
export interface ChangeFeed {
  /** Tells every process, this one included. Never throws: a lost push costs 5 s of staleness, no more. */
  publish(change: Change): Promise<void>;
  /** Calls the listener for each change, from now on; `lost` says that changes may have been missed. */
  subscribe(listener: (change: Change) => void, lost: () => void): Promise<void>;
  close(): Promise<void>;
}

export interface ChangeFeedOptions {
  /** Redis publishes when it is there, else PostgreSQL notifies. */
  redisUrl: string | undefined;
  /** Settings of a connection of our own: `LISTEN` lives and dies with one. */
  postgres: ClientConfig;
  onError: (error: Error) => void;
}

export function createChangeFeed(options: ChangeFeedOptions): ChangeFeed {
  return options.redisUrl === undefined
    ? createPostgresFeed(options)
    : createRedisFeed(options.redisUrl, options.onError);
}

/** How long a connection that we close may linger; nothing of ours waits for an answer then. */
const disconnectTimeout = 100;

function createRedisFeed(url: string, onError: (error: Error) => void): ChangeFeed {
  const retryStrategy = (times: number) => Math.min(times * 100, 2_000);
  const publisher = new Redis(url, {
    retryStrategy,
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
      await publisher.publish(channel, JSON.stringify(change)).catch(onError);
    },
    subscribe: async (listener, lost) => {
      const client = new Redis(url, {
        retryStrategy,
        maxRetriesPerRequest: null,
        disconnectTimeout,
        // ioredis would do it without catching: closing the feed in the middle of it would end the process.
        autoResubscribe: false,
      });
      client.on('error', onError);
      client.on('message', (_channel, message) => deliver(message, listener));
      // What was published before we listen, again, is gone.
      client.on('ready', () => void client.subscribe(channel).then(lost, ignoreClosing));
      subscriber = client;
    },
    close: async () => {
      closed = true;
      publisher.disconnect();
      subscriber?.disconnect();
    },
  };
}

function createPostgresFeed({ postgres, onError }: ChangeFeedOptions): ChangeFeed {
  const connections = new Set<Client>();
  let closed = false;
  const connect = async () => {
    const client = new Client({ ...postgres, keepAlive: true });
    connections.add(client);
    client.on('error', onError);
    client.on('end', () => connections.delete(client));
    await client.connect();
    return client;
  };
  const publisher = lazily(connect);
  const notify = async (change: Change) => {
    const client = await publisher.get();
    await client.query('select pg_notify($1, $2)', [channel, JSON.stringify(change)]);
  };
  const listen = async (listener: (change: Change) => void, lost: () => void): Promise<void> => {
    if (closed) return;
    try {
      const client = await connect();
      client.on('notification', (notification) => deliver(notification.payload ?? '', listener));
      client.once('end', () => scheduleListen(listener, lost));
      await client.query(`listen ${channel}`);
      lost();
    } catch (error) {
      onError(asError(error));
      scheduleListen(listener, lost);
    }
  };
  const scheduleListen = (listener: (change: Change) => void, lost: () => void) => {
    if (!closed) setTimeout(() => void listen(listener, lost), 1_000).unref();
  };
  return {
    publish: async (change) => {
      try {
        // An idle connection may have died unnoticed, as when the server was restarted: the second try has a new one.
        await notify(change).catch(() => {
          publisher.reset();
          return notify(change);
        });
      } catch (error) {
        publisher.reset();
        onError(asError(error));
      }
    },
    subscribe: listen,
    close: async () => {
      closed = true;
      await Promise.allSettled([...connections].map((client) => client.end()));
    },
  };
}

/** One connection, made when first asked for, and again after a failure. */
function lazily(connect: () => Promise<Client>) {
  let current: Promise<Client> | undefined;
  return {
    get: () => {
      current ??= connect();
      return current;
    },
    reset: () => {
      current = undefined;
    },
  };
}

function deliver(message: string, listener: (change: Change) => void): void {
  let json: unknown;
  try {
    json = JSON.parse(message);
  } catch {
    return;
  }
  const change = changeSchema.safeParse(json);
  if (change.success) listener(change.data);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
