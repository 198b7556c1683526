import { readFileSync } from 'node:fs';

/** What a test file wants of Redis: nothing; to run on it as well; to have one. */
export type RedisUse = 'none' | 'also' | 'only';

/**
 * Reads it from the file's text: a suite for both queue backends calls `queueBackends`, one that needs a Redis calls
 * `createTestRedis` or `startRedis`. So no naming convention can be forgotten.
 */
export function redisUse(source: string): RedisUse {
  if (/\b(createTestRedis|startRedis)\(/.test(source)) return 'only';
  return /\bqueueBackends\(/.test(source) ? 'also' : 'none';
}

/** Whether these files need PostgreSQL: all but the unit tests, which need nothing but Node. */
export function needPostgres(files: readonly string[]): boolean {
  return files.some((file) => /\.integration\.test\.ts$|\/tests\//.test(file));
}

/** The files by what they want of Redis. */
export function byRedisUse(files: readonly string[]): Record<RedisUse, string[]> {
  const groups: Record<RedisUse, string[]> = { none: [], also: [], only: [] };
  for (const file of files) groups[redisUse(readFileSync(file, 'utf8'))].push(file);
  return groups;
}
