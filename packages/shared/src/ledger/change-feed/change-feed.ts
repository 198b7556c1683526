import type { ClientConfig } from 'pg';
import { createPostgresFeed } from './postgres-feed.ts';
import { createRedisFeed } from './redis-feed.ts';

/**
 * An object that processes cache has changed: drop the copy. Or an organization has new events (`events`): look for them.
 * Or a process sends its events to clients (`followed`): tell of new ones. Or sending was paused or resumed (`sending`).
 */
export interface Change {
  kind: 'api_key' | 'organization' | 'webhook' | 'events' | 'followed' | 'sending';
  /** UUID of the object; of the organization for the last three, the nil UUID for everybody's sending. */
  id: string;
}

/** Notifies the caches of every process of changes. Best effort: caches expire by themselves within 5 s. */
export interface ChangeFeed {
  /** Notifies every process, this one included. Never throws: a lost notification costs at most 5 s of staleness. */
  publish(change: Change): Promise<void>;
  /** Calls the listener for each change from now on, and `lost` when changes may have been missed. */
  subscribe(listener: (change: Change) => void, lost: () => void): Promise<void>;
  close(): Promise<void>;
}

export interface ChangeFeedOptions {
  /** Changes go through Redis when this is set, else through PostgreSQL's `NOTIFY`. */
  redisUrl: string | undefined;
  /** Settings of a connection outside the pool: `LISTEN` lasts as long as its connection. */
  postgres: ClientConfig;
  onError: (error: Error) => void;
}

export function createChangeFeed(options: ChangeFeedOptions): ChangeFeed {
  return options.redisUrl === undefined
    ? createPostgresFeed(options.postgres, options.onError)
    : createRedisFeed(options.redisUrl, options.onError);
}
