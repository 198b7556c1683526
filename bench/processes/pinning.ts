import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const taskset = spawnSync('taskset', ['--version'], { stdio: 'ignore' }).status === 0;

/** Whether processes can be kept on one core here: util-linux' taskset is there, and there are cores to choose from. */
export const canPin = taskset && availableParallelism() > 1;

/** Generator and receiver share the last core; a system that is to have one core has the first. */
export const cores = { ours: availableParallelism() - 1, systems: 0 };

/** A command that runs on one core alone, where that can be said. */
export function pinned(command: readonly [string, ...string[]], core: number | undefined): [string, string[]] {
  const [program, ...args] = command;
  return core === undefined || !canPin ? [program, args] : ['taskset', ['-c', String(core), program, ...args]];
}

/** Moves running processes, with all their threads and children, to some cores (`0`, or `0-3`). */
export function moveTo(coreList: string, pids: readonly number[]): void {
  for (const pid of pids.flatMap((each) => [each, ...childrenOf(each)])) {
    spawnSync('taskset', ['-acp', coreList, String(pid)], { stdio: 'ignore' });
  }
}

/** The list of all cores, as taskset takes it. */
export const allCores = `0-${availableParallelism() - 1}`;

/** The processes that this one has started and that still run; empty where there is no /proc. */
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
    // It has ended since.
    return undefined;
  }
}
