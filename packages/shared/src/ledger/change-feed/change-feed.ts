import type { ClientConfig } from 'pg';
import { createPostgresFeed } from './postgres-feed.ts';
import { createRedisFeed } from './redis-feed.ts';

/** Something that processes keep a copy of has changed: drop the copy. */
export interface Change {
  kind: 'api_key' | 'organization' | 'webhook';
  /** UUID of the object. */
  id: string;
}

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
    ? createPostgresFeed(options.postgres, options.onError)
    : createRedisFeed(options.redisUrl, options.onError);
}
