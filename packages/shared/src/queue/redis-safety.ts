import { Redis } from 'ioredis';
import type { QueueBackend } from './backend.ts';

/** What a look at the queue's Redis found, at the start of a process. */
export interface QueueSafety {
  /** Why the process must not start, and what to do about it. */
  problem: string | null;
  /** What an operator should know. */
  warnings: string[];
}

/** A Redis that does not answer is no reason not to start: events wait in the outbox, and the relay moves them. */
const lookWithinMs = 2_000;

/**
 * Looks at how the queue's Redis is set up. One that evicts keys when it is full would throw jobs away in silence; one
 * without an append-only file forgets its jobs when it restarts, which costs time and no event.
 */
export async function inspectQueue(backend: QueueBackend): Promise<QueueSafety> {
  if (backend.kind === 'postgres') return { problem: null, warnings: [] };
  const redis = new Redis(backend.url, {
    lazyConnect: true,
    connectTimeout: lookWithinMs,
    commandTimeout: lookWithinMs,
    maxRetriesPerRequest: 1,
    retryStrategy: () => null,
  });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return judge(await redis.info('memory'), await redis.info('persistence'));
  } catch {
    return { problem: null, warnings: ['Redis does not answer; its settings could not be checked.'] };
  } finally {
    redis.disconnect();
  }
}

/** INFO instead of CONFIG GET: managed services refuse the latter. */
function judge(memory: string, persistence: string): QueueSafety {
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
  if (policy !== undefined && policy !== 'noeviction') {
    return {
      problem: `Redis evicts keys when it is full (maxmemory-policy ${policy}): jobs would vanish. Set: maxmemory-policy noeviction`,
      warnings: [],
    };
  }
  const appends = /^aof_enabled:1/m.test(persistence);
  const warning = 'Redis has no append-only file: its jobs are gone after a restart. Set: appendonly yes';
  return { problem: null, warnings: appends ? [] : [warning] };
}
