import { readFileSync } from 'node:fs';

/** Whether a test file uses Redis: not at all; besides PostgreSQL, as the second queue backend; always. */
export type RedisUse = 'none' | 'also' | 'only';

/**
 * Read from the file's text, because a naming convention can be forgotten: a suite for both queue backends calls
 * `queueBackends`, a suite that needs a Redis calls `createTestRedis` or `startRedis`.
 */
export function redisUse(source: string): RedisUse {
  if (/\b(createTestRedis|startRedis)\(/.test(source)) return 'only';
  return /\bqueueBackends\(/.test(source) ? 'also' : 'none';
}

/** Whether any of these files needs PostgreSQL. Unit tests need nothing but Node. */
export function needPostgres(files: readonly string[]): boolean {
  return files.some((file) => /\.integration\.test\.ts$|\/tests\//.test(file));
}

/** The files, grouped by their use of Redis. */
export function byRedisUse(files: readonly string[]): Record<RedisUse, string[]> {
  const groups: Record<RedisUse, string[]> = { none: [], also: [], only: [] };
  for (const file of files) groups[redisUse(readFileSync(file, 'utf8'))].push(file);
  return groups;
}
