import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { childrenOf } from '../processes/pinning.ts';

/** Microseconds of CPU time, user and system, by process. */
export type CpuTimes = Record<string, number>;

/** Whether the system shows the CPU time of each process. */
export const canMeasureCpu = existsSync('/proc/self/stat');

const microsecondsPerTick = canMeasureCpu ? 1e6 / Number(execFileSync('getconf', ['CLK_TCK']).toString()) : 0;

/**
 * The CPU time of processes so far, with that of their children, living or ended (PostgreSQL has a process for each
 * connection).
 */
export function cpuTimes(processes: Readonly<Record<string, number>>): CpuTimes {
  if (!canMeasureCpu) return {};
  return Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, familyTime(pid)]));
}

export function difference(before: CpuTimes, after: CpuTimes): CpuTimes {
  return Object.fromEntries(Object.entries(after).map(([name, time]) => [name, time - (before[name] ?? 0)]));
}

export function total(times: CpuTimes): number {
  return Object.values(times).reduce((sum, time) => sum + time, 0);
}

function familyTime(pid: number): number {
  const ticks = [pid, ...childrenOf(pid)].map((each) => ticksOf(read(`/proc/${each}/stat`)));
  return ticks.reduce((sum, each) => sum + each, 0) * microsecondsPerTick;
}

/** The clock ticks in a line of /proc/…/stat: utime, stime, cutime, cstime. */
export function ticksOf(stat: string): number {
  // The program's name is in parentheses and may hold spaces and parentheses itself.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return fields.reduce((sum, field) => sum + (Number(field) || 0), 0);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    // The process has ended: its time counts for its parent now.
    return '';
  }
}
