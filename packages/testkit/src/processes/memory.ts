import { readFileSync } from 'node:fs';

/** Memory of a process, in bytes. NaN where the system does not show it, and once the process has ended. */
export interface ResidentMemory {
  now: number;
  /** The most that it ever was. */
  peak: number;
}

export function residentMemory(pid: number): ResidentMemory {
  const status = readStatus(pid);
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1_024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
}

function readStatus(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    return '';
  }
}
