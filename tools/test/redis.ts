import { askRedis, findRedisProgram } from '@enterprise-api/testkit';
import { installPackages, type SearchOptions } from './install.ts';

/** How the tests get a Redis. */
export type RedisSource =
  | { kind: 'given'; url: string }
  | { kind: 'program'; path: string }
  | { kind: 'none'; problem: string; advice: string };

export interface FindRedisOptions extends SearchOptions {
  /** `REDIS_URL`, when it is set. */
  givenUrl: string | undefined;
}

const advice =
  'Install redis-server or valkey-server (Debian, Ubuntu: sudo apt-get install redis-server; ' +
  'macOS: brew install redis), or set REDIS_URL to a running one.';

/** The Redis at REDIS_URL; else a program on the PATH; else one installed with apt-get, when permitted; else advice. */
export async function findRedis(options: FindRedisOptions): Promise<RedisSource> {
  if (options.givenUrl !== undefined) return await checkGiven(options.givenUrl);
  const present = findRedisProgram();
  if (present !== undefined) return { kind: 'program', path: present };
  const problem = await installPackages(['redis-server'], options);
  const installed = findRedisProgram();
  if (installed !== undefined) return { kind: 'program', path: installed };
  return { kind: 'none', problem, advice };
}

async function checkGiven(url: string): Promise<RedisSource> {
  const problem = await askRedis(url);
  if (problem === undefined) return { kind: 'given', url };
  return { kind: 'none', problem: `REDIS_URL is set, but Redis does not answer there: ${problem}.`, advice };
}
