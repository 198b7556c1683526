import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '@enterprise-api/shared/runtime';
import {
  type GuardedProcess,
  nodeArguments,
  type ProcessExit,
  spawnGuarded,
  waitUntilReady,
} from '@enterprise-api/testkit';
import { readableLogLine } from './log-lines.ts';

export interface ServiceOptions {
  /** Also names the log file. */
  name: 'api' | 'worker' | 'consultations';
  readyUrl: string;
  project: string;
  env: Environment;
  logFolder: string;
  signal: AbortSignal;
}

export interface Service extends AsyncDisposable {
  name: string;
  logFile: string;
  /** Resolves when the process has ended, with an error that says how and shows its last lines. */
  death: Promise<Error>;
}

/** SIGKILL follows after this time. The services stop within WEBHOOK_TIMEOUT_MS + 5 s, 20 s by default. */
const stopWithinMs = 25_000;

/** Starts the real process of a service and waits until it is ready. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { name, project, env, signal } = options;
  const logFile = join(options.logFolder, `${name}.log`);
  mkdirSync(options.logFolder, { recursive: true, mode: 0o700 });
  writeFileSync(logFile, '', { mode: 0o600 });
  const child = await spawnGuarded(process.execPath, argumentsOf(name), {
    cwd: project,
    env,
    onLine: (line) => appendFileSync(logFile, `${line}\n`),
  });
  const death = child.exited.then((exit) => describeDeath(name, exit, child));
  const failed = death.then((error) => {
    throw error;
  });
  failed.catch(() => undefined);
  try {
    await Promise.race([failed, waitUntilReady(options.readyUrl, child, { name, withinMs: 60_000, signal })]);
  } catch (error) {
    await child.stop(stopWithinMs);
    throw error;
  }
  return { name, logFile, death, [Symbol.asyncDispose]: async () => void (await child.stop(stopWithinMs)) };
}

function argumentsOf(name: ServiceOptions['name']): string[] {
  return name === 'consultations' ? ['examples/consultations/main.ts'] : nodeArguments(name);
}

/**
 * Applies the migrations in a process of its own, as `npm run migrate` does.
 *
 * @returns what was done, in words
 */
export async function migrateDatabase(project: string, env: Environment, signal: AbortSignal): Promise<string> {
  const entry = 'packages/shared/src/ledger/migrate-main.ts';
  const child = await spawnGuarded(process.execPath, [entry], { cwd: project, env, signal });
  const exit = await child.exited;
  signal.throwIfAborted();
  if (exit.code !== 0) throw describeDeath('migration', exit, child);
  const [, names] = /^Applied (.+)\.$/.exec(child.lines.at(-1) ?? '') ?? [];
  return names === undefined ? 'up to date' : `${names.split(', ').length} migrations applied`;
}

function describeDeath(name: string, exit: ProcessExit, child: GuardedProcess): Error {
  const how = exit.signal === null ? `exit code ${exit.code}` : exit.signal;
  const lines = child.lines.slice(-12).map((line) => `  ${readableLogLine(line)}`);
  return new Error(
    [`The ${name} ended (${how}).`, ...(lines.length > 0 ? ['Its last lines:', ...lines] : [])].join('\n'),
  );
}
