import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { availableParallelism, cpus, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';

/** The machine of a measurement, without anything that identifies it. */
export interface Machine {
  cpu: string;
  cores: number;
  memory_gb: number;
  system: string;
  node: string;
  postgres: string;
  redis: string;
}

export function describeMachine(stores: { postgres: { version: string }; redisVersion: string }): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory_gb: Math.round(totalmem() / 2 ** 30),
    system: type(),
    node: process.versions.node,
    postgres: stores.postgres.version,
    redis: stores.redisVersion,
  };
}

const measured = ['services', 'packages', 'bench', 'package-lock.json', ':!bench/results'];

/** The commit that is measured, with a digest of the changes when files differ from it. */
export function commitName(): string {
  try {
    const commit = git('rev-parse', '--short', 'HEAD').trim();
    const changes = git('status', '--porcelain', '--', ...measured) + git('diff', 'HEAD', '--', ...measured);
    if (changes === '') return commit;
    return `${commit}+${createHash('sha256').update(changes).digest('hex').slice(0, 6)}`;
  } catch {
    return 'unknown';
  }
}

function git(...args: string[]): string {
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  return execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'ignore'] });
}
