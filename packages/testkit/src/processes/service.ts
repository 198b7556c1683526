import { freePorts } from './free-ports.ts';
import { type GuardedProcess, type ProcessExit, spawnGuarded } from './guarded-process.ts';
import { nodeArguments } from './npm-script.ts';
import { projectFolder } from './project-folder.ts';

export type ServiceName = 'api' | 'webhook-worker';

export interface ServiceProcess extends AsyncDisposable {
  readonly name: ServiceName;
  readonly pid: number;
  /** The API's public listener, or the worker's only one. */
  readonly url: string;
  /** The API's internal listener; the worker's only one. */
  readonly internalUrl: string;
  /** Settles when it has ended, by itself or by a signal. */
  readonly exited: Promise<ProcessExit>;
  /** Its output so far, standard output and error, line by line. */
  readonly lines: readonly string[];
  /** The lines of its output that are log records. */
  logs(): Record<string, unknown>[];
  kill(signal: NodeJS.Signals): void;
  /** Stops reading its standard output, as a stalled log collector does. */
  pauseOutput(): void;
  resumeOutput(): void;
  /** SIGTERM, and SIGKILL after 30 s. */
  stop(): Promise<ProcessExit>;
  /** Waits until `/readyz` says 200. */
  ready(withinMs?: number): Promise<void>;
}

export interface StartServiceOptions {
  /** False: it is given back at once, for a test of how it fails. */
  waitUntilReady?: boolean;
}

const running = new Set<GuardedProcess>();

/**
 * Starts the real process of a service, as `npm run api` and `npm run worker` do, on free ports of 127.0.0.1, and
 * waits until it is ready. It ends with the test process at the latest.
 *
 * @param env settings beyond the ports and the PATH; nothing else is inherited, so a test says all it relies on
 * @throws with the last lines of its output when it ends or is not ready within 30 s
 */
export async function startService(
  name: ServiceName,
  env: Readonly<Record<string, string | undefined>>,
  options: StartServiceOptions = {},
): Promise<ServiceProcess> {
  for (let tries = 1; ; tries++) {
    try {
      return await tryToStart(name, env, options);
    } catch (error) {
      // Free ports are free until somebody else, such as another run on this machine, is quicker.
      if (tries === 3 || !String(error).includes('EADDRINUSE')) throw error;
    }
  }
}

async function tryToStart(
  name: ServiceName,
  env: Readonly<Record<string, string | undefined>>,
  options: StartServiceOptions,
): Promise<ServiceProcess> {
  const [main = 0, internal = 0] = await freePorts(2);
  const ports =
    name === 'api'
      ? { API_HOST: '127.0.0.1', API_PORT: String(main), INTERNAL_PORT: String(internal) }
      : { WORKER_PORT: String(main) };
  const settings = { PATH: process.env.PATH, ...ports, ...env };
  const command = nodeArguments(name === 'api' ? 'api' : 'worker');
  const child = await spawnGuarded(process.execPath, command, { cwd: projectFolder, env: settings });
  running.add(child);
  void child.exited.then(() => running.delete(child));
  const service = describeService(name, child, settings);
  if (options.waitUntilReady === false) return service;
  try {
    await service.ready();
  } catch (error) {
    await child.stop(1_000);
    throw error;
  }
  return service;
}

/** Ends every service that a test left running; for `afterAll`. */
export async function stopAllServices(): Promise<void> {
  await Promise.all([...running].map((child) => child.stop(5_000)));
}

/** Waits for a URL to answer 200, for as long as the process lives. */
export async function waitUntilReady(
  url: string,
  child: Pick<GuardedProcess, 'exited' | 'lines'>,
  options: { name: string; withinMs: number; signal?: AbortSignal },
): Promise<void> {
  const ended = new AbortController();
  void child.exited.then(() => ended.abort());
  const deadline = AbortSignal.timeout(options.withinMs);
  const stop = AbortSignal.any([ended.signal, deadline, ...(options.signal ? [options.signal] : [])]);
  while (!(await answersOk(url, stop))) {
    options.signal?.throwIfAborted();
    if (stop.aborted) {
      const what = ended.signal.aborted ? 'ended' : `was not ready within ${options.withinMs / 1_000} s`;
      throw new Error(`${options.name} ${what}. Its last lines:\n${child.lines.slice(-15).join('\n')}`);
    }
    await pause(50, stop);
  }
}

function describeService(
  name: ServiceName,
  child: GuardedProcess,
  env: Readonly<Record<string, string | undefined>>,
): ServiceProcess {
  const url = `http://127.0.0.1:${name === 'api' ? env.API_PORT : env.WORKER_PORT}`;
  const stop = () => child.stop(30_000);
  return {
    name,
    pid: child.pid,
    url,
    internalUrl: name === 'api' ? `http://127.0.0.1:${env.INTERNAL_PORT}` : url,
    exited: child.exited,
    lines: child.lines,
    logs: () => child.lines.flatMap(parseRecord),
    kill: child.kill,
    pauseOutput: child.pauseOutput,
    resumeOutput: child.resumeOutput,
    stop,
    ready: (withinMs = 30_000) => waitUntilReady(`${url}/readyz`, child, { name, withinMs }),
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

async function answersOk(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(2_000)]) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function parseRecord(line: string): Record<string, unknown>[] {
  try {
    const record: unknown = JSON.parse(line);
    return typeof record === 'object' && record !== null ? [record as Record<string, unknown>] : [];
  } catch {
    return [];
  }
}
