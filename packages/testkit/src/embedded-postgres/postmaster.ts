import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../until.ts';

/**
 * Clears what a run that was killed left in a data folder: a server that still runs on it is stopped, a pid file whose
 * number now belongs to another program is removed. A pid file of a process that is gone PostgreSQL clears itself.
 */
export async function clearLeftovers(folder: string, say: (line: string) => void): Promise<void> {
  const file = join(folder, 'postmaster.pid');
  const pid = readPid(file);
  if (pid === undefined || !isAlive(pid)) return;
  if (!servesFolder(pid, folder)) {
    rmSync(file, { force: true });
    return;
  }
  say(`A PostgreSQL of an earlier run is still there (process ${pid}): stopping it.`);
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    process.kill(pid, signal);
    if (await ended(pid, folder, 10_000)) return;
  }
  throw new Error(`The PostgreSQL of an earlier run (process ${pid}) does not end.`);
}

function readPid(file: string): number | undefined {
  if (!existsSync(file)) return undefined;
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  return Number.isInteger(pid) && pid > 1 ? pid : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A postmaster's working directory is its data folder; where there is no /proc, its command line tells. */
function servesFolder(pid: number, folder: string): boolean {
  if (existsSync('/proc/self/cwd')) {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder);
    } catch {
      return false;
    }
  }
  return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout.includes(folder);
}

/** A dead process that its parent has not reaped yet still has its number, but serves nothing. */
async function ended(pid: number, folder: string, withinMs: number): Promise<boolean> {
  const hasEnded = () => !isAlive(pid) || !servesFolder(pid, folder);
  return await until(`process ${pid} has ended`, hasEnded, { withinMs, everyMs: 50 }).catch(() => false);
}
