import { spawnSync } from 'node:child_process';
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

const holderSchema = z.object({ pid: z.int().positive(), started: z.string().min(1) });

/**
 * Locks a folder for this process, for as long as it lives. A lock whose holder is gone is replaced, also when another
 * program has its process number by now.
 *
 * @throws when another run holds it
 */
export function lockFolder(file: string): Disposable {
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, JSON.stringify({ pid: process.pid, started: startOf(process.pid) }), { mode: 0o600 });
  try {
    while (!tryLink(draft, file)) removeIfStale(file);
  } finally {
    rmSync(draft, { force: true });
  }
  return { [Symbol.dispose]: () => rmSync(file, { force: true }) };
}

/** A link appears complete, and never replaces another one. */
function tryLink(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function removeIfStale(file: string): void {
  const seen = readIfThere(file);
  if (seen === undefined) return;
  const holder = parseHolder(seen);
  if (holder && startOf(holder.pid) === holder.started) {
    throw new Error(`Another run is going on here (process ${holder.pid}). End it with Ctrl-C in its terminal first.`);
  }
  const aside = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  // Another run may have replaced the stale lock in the meantime: then this file is the new lock, and is put back.
  if (readIfThere(aside) !== seen) tryLink(aside, file);
  rmSync(aside, { force: true });
}

function parseHolder(text: string): z.output<typeof holderSchema> | undefined {
  try {
    return holderSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function readIfThere(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** The start time of a process in the notation of the system; empty when there is none with that number. */
function startOf(pid: number): string {
  try {
    // What follows the program's name, which may itself hold spaces and parentheses: state first, start as the 20th.
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? '' : (fields[19] ?? '');
  } catch {
    if (existsSync('/proc/self/stat')) return '';
    return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
  }
}
