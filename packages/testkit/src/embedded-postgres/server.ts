import { appendFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../processes/free-ports.ts';
import { type GuardedProcess, spawnGuarded } from '../processes/guarded-process.ts';
import type { Account } from './account.ts';
import type { PostgresBinaries } from './binaries.ts';
import { postgresEnvironment } from './data-folder.ts';

export interface ServerOptions {
  binaries: PostgresBinaries;
  account: Account | undefined;
  /** Preferred; another one is used when it is busy. */
  port: number | undefined;
  /** Server settings, by name. */
  settings: Readonly<Record<string, string>>;
  /** Whether it never accepts anything but reads. */
  isStandby: boolean;
  logFile: string;
  signal?: AbortSignal | undefined;
}

export interface PostgresServer {
  port: number;
  process: GuardedProcess;
}

const tries = 20;

/** Starts the server on a data folder, on 127.0.0.1 alone, and waits until it accepts connections. */
export async function startServer(folder: string, options: ServerOptions): Promise<PostgresServer> {
  let port = options.port ?? (await freePort());
  for (let attempt = 1; ; attempt++) {
    const outcome = await tryToStart(folder, port, options);
    if (outcome.kind === 'ready') return { port, process: outcome.process };
    options.signal?.throwIfAborted();
    const reason = attempt < tries ? reasonToTryAgain(outcome.lines) : undefined;
    if (reason === undefined) {
      throw new Error(`PostgreSQL did not start. Its last lines:\n${outcome.lines.slice(-12).join('\n')}`);
    }
    if (reason === 'port') port = await freePort();
    else await pause(500, undefined, { signal: options.signal });
  }
}

type Outcome = { kind: 'ready'; process: GuardedProcess } | { kind: 'ended'; lines: readonly string[] };

async function tryToStart(folder: string, port: number, options: ServerOptions): Promise<Outcome> {
  const { binaries, account, settings, logFile, signal } = options;
  const kind = options.isStandby ? 'read-only ' : '';
  const ready = Promise.withResolvers<'ready'>();
  // No Unix socket: its path is limited to about 100 characters, which a deep clone exceeds.
  const all = { port: String(port), listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  writeFileSync(logFile, '', { mode: 0o600 });
  const server = await spawnGuarded(binaries.postgres, ['-D', folder, ...flags], {
    cwd: '/',
    env: postgresEnvironment,
    account,
    // Does not wait for clients; committed data are on disk in any case.
    stopSignal: 'SIGINT',
    quitSignal: 'SIGQUIT',
    onLine: (line) => {
      appendFileSync(logFile, `${line}\n`);
      if (line.includes(`database system is ready to accept ${kind}connections`)) ready.resolve('ready');
    },
  });
  // Only while it starts: later it is stopped last, after the processes that use it.
  const cancel = () => server.kill('SIGINT');
  signal?.addEventListener('abort', cancel);
  if (signal?.aborted) cancel();
  const first = await Promise.race([ready.promise, server.exited]);
  signal?.removeEventListener('abort', cancel);
  return first === 'ready' ? { kind: 'ready', process: server } : { kind: 'ended', lines: server.lines };
}

/** A busy port, or processes of a killed server that have not ended yet: both are temporary. */
function reasonToTryAgain(lines: readonly string[]): 'port' | 'leftovers' | undefined {
  const text = lines.join('\n');
  if (text.includes('could not bind')) return 'port';
  if (text.includes('pre-existing shared memory block') || text.includes('is still in use')) return 'leftovers';
  return undefined;
}
