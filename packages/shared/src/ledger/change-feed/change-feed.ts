import type { ClientConfig } from 'pg';
import { createPostgresFeed } from './postgres-feed.ts';
import { createRedisFeed } from './redis-feed.ts';

/**
 * The kind determines how a process reacts:
 * - `api_key`, `organization`, `webhook`, `console_session`: a cached object changed; drop the copy.
 * - `events`: an organization has new events; look for them.
 * - `followed`: a process streams an organization's events to clients; announce new events.
 * - `sending`: an operator paused or resumed sending.
 */
export interface Change {
  kind: 'api_key' | 'organization' | 'webhook' | 'console_session' | 'events' | 'followed' | 'sending';
  /**
   * UUID of the cached object that changed; for other kinds, UUID of the organization. With `sending`, the nil UUID
   * means all organizations.
   */
  id: string;
}

/** Notifies every process of changes. Caches expire within 5 s, so a lost notification does little harm. */
export interface ChangeFeed {
  /**
   * Notifies every process, including this one. Never rejects. After a lost notification, caches are outdated for up to
   * 5 s.
   */
  publish(change: Change): Promise<void>;
  /** Calls the listener for each later change, and `lost` if changes may have been missed. */
  subscribe(listener: (change: Change) => void, lost: () => void): Promise<void>;
  close(): Promise<void>;
}

export interface ChangeFeedOptions {
  redisUrl: string | undefined;
  /** Settings for connections outside the pool, because `LISTEN` lasts only as long as its connection. */
  postgres: ClientConfig;
  onError: (error: Error) => void;
}

export function createChangeFeed(options: ChangeFeedOptions): ChangeFeed {
  return options.redisUrl === undefined
    ? createPostgresFeed(options.postgres, options.onError)
    : createRedisFeed(options.redisUrl, options.onError);
}
