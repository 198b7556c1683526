import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export interface GuardedProcessOptions {
  /** The whole environment of the process; nothing is inherited. */
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** Run as this user; only root may ask for it. */
  account?: { uid: number; gid: number } | undefined;
  /** `lines` (default) collects the output; `inherit` leaves it on our terminal. */
  output?: 'lines' | 'inherit';
  /** Called with each line of its output as it comes. */
  onLine?: (line: string) => void;
  /** The signal of `stop`; SIGTERM by default. */
  stopSignal?: NodeJS.Signals;
  /** Stops it when aborted. */
  signal?: AbortSignal | undefined;
  /** The signal that ends it at once when this process exits; SIGKILL by default. */
  quitSignal?: NodeJS.Signals;
}

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface GuardedProcess extends AsyncDisposable {
  readonly pid: number;
  /** Settles when the process has ended and its output is complete. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** The last lines of its output, both streams, oldest first. */
  readonly lines: readonly string[];
  /** Sends a signal to its whole process group; harmless when it has ended. */
  kill(signal: NodeJS.Signals): void;
  /** Stops reading its output, as a stalled log collector does. */
  pauseOutput(): void;
  resumeOutput(): void;
  /** Asks it to end, and sends SIGKILL after `withinMs` (20 s). */
  stop(withinMs?: number): Promise<ProcessExit>;
}

const linesKept = 2_000;

const atExit = new Set<() => void>();
process.once('exit', () => {
  for (const quit of atExit) quit();
});

/**
 * Starts a program in a process group of its own, so that a Ctrl-C in the terminal reaches this process only, which
 * ends its programs in order. A small shell watches a pipe to this process, and ends the group when this process dies
 * by SIGKILL or for want of memory: no orphan is left.
 *
 * @throws when the program cannot be started at all
 */
export async function spawnGuarded(
  command: string,
  args: readonly string[],
  options: GuardedProcessOptions,
): Promise<GuardedProcess> {
  const { child, closed } = await spawnProgram(command, args, options);
  const pid = child.pid as number;
  const stopSignal = options.stopSignal ?? 'SIGTERM';
  const guard = startGuard(pid, stopSignal);
  const lines = collectLines(child, options.onLine);
  const kill = (signal: NodeJS.Signals) => killGroup(pid, child, signal);
  const quit = () => kill(options.quitSignal ?? 'SIGKILL');
  atExit.add(quit);
  const exited = closed.then((exit) => {
    atExit.delete(quit);
    options.signal?.removeEventListener('abort', abort);
    guard.kill('SIGKILL');
    return exit;
  });
  const stop = (withinMs = 20_000) => stopWithin(kill, stopSignal, exited, withinMs);
  const abort = () => void stop();
  options.signal?.addEventListener('abort', abort);
  if (options.signal?.aborted) abort();
  return {
    pid,
    exited,
    lines,
    kill,
    pauseOutput: () => void child.stdout?.pause(),
    resumeOutput: () => void child.stdout?.resume(),
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

async function spawnProgram(command: string, args: readonly string[], options: GuardedProcessOptions) {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...options.env },
    detached: true,
    stdio: options.output === 'inherit' ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
    ...(options.account && { uid: options.account.uid, gid: options.account.gid }),
  });
  const closed = new Promise<ProcessExit>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  // Rejects with the reason when there is no such program, or it may not be run.
  await once(child, 'spawn');
  child.on('error', () => undefined);
  return { child, closed };
}

// For kill, a dead process that its new parent has not reaped (Z) still exists.
const guardScript = `
trap "" HUP INT TERM
read -r _
kill -s "$2" -- "-$1" 2>/dev/null || exit 0
tries=0
while kill -s 0 -- "-$1" 2>/dev/null && [ "$tries" -lt 100 ]; do
  grep -qs ") Z " "/proc/$1/stat" && break
  sleep 0.2
  tries=$((tries + 1))
done
kill -s KILL -- "-$1" 2>/dev/null
`;

function startGuard(pid: number, stopSignal: NodeJS.Signals): ChildProcess {
  const name = stopSignal.replace(/^SIG/, '');
  const guard = spawn('/bin/sh', ['-c', guardScript, 'guard', String(pid), name], {
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.on('error', () => undefined);
  guard.stdin?.on('error', () => undefined);
  // The guard must not be what keeps our event loop alive.
  guard.unref();
  (guard.stdin as unknown as { unref?: () => void } | null)?.unref?.();
  return guard;
}

function collectLines(child: ChildProcess, onLine: GuardedProcessOptions['onLine']): string[] {
  const lines: string[] = [];
  const add = (line: string) => {
    lines.push(line);
    if (lines.length > linesKept) lines.splice(0, lines.length - linesKept);
    onLine?.(line);
  };
  for (const stream of [child.stdout, child.stderr] satisfies (Readable | null)[]) {
    if (stream) createInterface({ input: stream }).on('line', add);
  }
  return lines;
}

function killGroup(pid: number, child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It ended between the check and the signal.
  }
}

async function stopWithin(
  kill: (signal: NodeJS.Signals) => void,
  stopSignal: NodeJS.Signals,
  exited: Promise<ProcessExit>,
  withinMs: number,
): Promise<ProcessExit> {
  kill(stopSignal);
  const timer = setTimeout(() => kill('SIGKILL'), withinMs);
  try {
    return await exited;
  } finally {
    clearTimeout(timer);
  }
}
