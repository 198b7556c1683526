import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const taskset = spawnSync('taskset', ['--version'], { stdio: 'ignore' }).status === 0;

/** Whether processes can be pinned to one core: util-linux' taskset is installed, and there is more than one core. */
export const canPin = taskset && availableParallelism() > 1;

/** Generator and receiver share the last core; a system with one core gets the first. */
export const cores = { bench: availableParallelism() - 1, system: 0 };

/** What to put before a command so that it runs on one core alone; nothing where the system cannot do it. */
export function pinnedTo(core: number): string[] {
  return canPin ? ['taskset', '-c', String(core)] : [];
}

/** Moves running processes, with all their threads and children, to some cores (`0`, or `0-3`). */
export function moveTo(coreList: string, pids: readonly number[]): void {
  for (const pid of pids.flatMap((each) => [each, ...childrenOf(each)])) {
    spawnSync('taskset', ['-acp', coreList, String(pid)], { stdio: 'ignore' });
  }
}

/** All cores, in the notation of taskset. */
export const allCores = `0-${availableParallelism() - 1}`;

/** The running children of a process; empty where there is no /proc. */
export function childrenOf(pid: number): number[] {
  return processIds().filter((each) => parentOf(each) === pid);
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    // The process has ended.
    return undefined;
  }
}
