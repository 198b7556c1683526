import { until } from '../until.ts';
import { freePorts } from './free-ports.ts';
import { type GuardedProcess, type ProcessExit, spawnGuarded } from './guarded-process.ts';
import { noteNodeWarning } from './node-warnings.ts';
import { nodeArguments } from './npm-script.ts';
import { projectFolder } from './project-folder.ts';

/** The two services of the product, and the internal service of examples/ that stands for the services of others. */
export type ServiceName = 'api' | 'webhook-worker' | 'consultations';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ServiceProcess extends AsyncDisposable {
  readonly name: ServiceName;
  readonly pid: number;
  /** The API's public listener, or another service's only one. */
  readonly url: string;
  /** The API's internal listener; another service's only one. */
  readonly internalUrl: string;
  /** Settles when it has ended, by itself or by a signal. */
  readonly exited: Promise<ProcessExit>;
  /** The last lines of its output, standard output and error. */
  readonly lines: readonly string[];
  /** The lines of its output that are log records. */
  logs(): Record<string, unknown>[];
  kill(signal: NodeJS.Signals): void;
  /** Stops reading its standard output, as a stalled log collector does. */
  pauseOutput(): void;
  resumeOutput(): void;
  /** SIGTERM, and SIGKILL after 30 s. */
  stop(): Promise<ProcessExit>;
  /** Waits until it answers 200 to the question whether it is ready. */
  ready(withinMs?: number): Promise<void>;
}

export interface StartServiceOptions {
  /** False: returns at once, for a test of a start that fails. */
  waitUntilReady?: boolean;
  /** How long it may take until it is ready; 120 s by default. */
  withinMs?: number;
  /** Called with each line of its output. */
  onLine?: (line: string) => void;
  /** Ends the wait for readiness. */
  signal?: AbortSignal;
}

const running = new Set<GuardedProcess>();

/**
 * Starts the real process of a service, as `npm run api` and `npm run worker` do, and waits until it is ready. It ends
 * with this process at the latest. Ports that `env` does not set are free ones of 127.0.0.1.
 *
 * @param env its settings; only the PATH and Node's compile cache are inherited, so a test names all it relies on
 * @throws with the last lines of its output when it ends or is not ready in time
 */
export async function startService(
  name: ServiceName,
  env: Environment,
  options: StartServiceOptions = {},
): Promise<ServiceProcess> {
  for (let tries = 1; ; tries++) {
    const inherited = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
    const settings = { ...inherited, ...(await portsFor(name)), ...env };
    try {
      return await launch(name, settings, options);
    } catch (error) {
      // Another process may bind a free port first; a port that `env` sets stays taken.
      const isOurChoice = !kinds[name].ports.every((port) => port in env);
      if (tries === 3 || !isOurChoice || !String(error).includes('EADDRINUSE')) throw error;
    }
  }
}

/** Ends every service that a test left running; for `afterAll`. */
export async function stopAllServices(): Promise<void> {
  await Promise.all([...running].map((child) => child.stop(5_000)));
}

/** Waits for a URL to answer 200, for as long as the process lives. */
export async function waitUntilReady(
  url: string,
  child: Pick<GuardedProcess, 'exited' | 'lines'>,
  options: { name: string; withinMs: number; signal?: AbortSignal | undefined },
): Promise<void> {
  const { name, withinMs } = options;
  const ended = new AbortController();
  void child.exited.then(({ code, signal }) =>
    ended.abort(new Error(`${name} ended (${signal ?? `exit code ${code}`})`)),
  );
  const signal = AbortSignal.any([ended.signal, ...(options.signal ? [options.signal] : [])]);
  try {
    await until(`${name} is ready`, () => answersOk(url), { withinMs, everyMs: 50, signal });
  } catch (error) {
    options.signal?.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason}. Its last lines:\n${child.lines.slice(-15).join('\n')}`, { cause: error });
  }
}

/** The URL at which this machine reaches a listener on `host`. */
export function localUrl(listener: { host: string; port: number | string }): string {
  const anyAddress: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };
  const host = anyAddress[listener.host] ?? (listener.host.includes(':') ? `[${listener.host}]` : listener.host);
  return `http://${host}:${listener.port}`;
}

interface Kind {
  /** The arguments of Node.js. */
  command: () => string[];
  ports: readonly string[];
  /** The settings of the listener that {@link ServiceProcess.url} names. */
  listener: readonly [host: string, port: string];
  readyPath: string;
}

const kinds: Record<ServiceName, Kind> = {
  api: {
    command: () => nodeArguments('api'),
    ports: ['API_PORT', 'INTERNAL_PORT'],
    listener: ['API_HOST', 'API_PORT'],
    readyPath: '/readyz',
  },
  'webhook-worker': {
    command: () => nodeArguments('worker'),
    ports: ['WORKER_PORT'],
    listener: ['WORKER_HOST', 'WORKER_PORT'],
    readyPath: '/readyz',
  },
  consultations: {
    command: () => ['examples/consultations/main.ts'],
    ports: ['PORT'],
    listener: ['HOST', 'PORT'],
    readyPath: '/healthz',
  },
};

async function portsFor(name: ServiceName): Promise<Record<string, string>> {
  const ports = await freePorts(kinds[name].ports.length);
  return {
    ...(name === 'api' && { API_HOST: '127.0.0.1' }),
    ...Object.fromEntries(kinds[name].ports.map((setting, index) => [setting, String(ports[index])])),
  };
}

async function launch(name: ServiceName, env: Environment, options: StartServiceOptions): Promise<ServiceProcess> {
  const onLine = (line: string) => {
    noteNodeWarning(name, line);
    options.onLine?.(line);
  };
  const child = await spawnGuarded(process.execPath, kinds[name].command(), { cwd: projectFolder, env, onLine });
  running.add(child);
  void child.exited.then(() => running.delete(child));
  const service = describeService(name, child, env);
  if (options.waitUntilReady === false) return service;
  try {
    await waitUntilReady(service.url + kinds[name].readyPath, child, {
      name,
      withinMs: options.withinMs ?? 120_000,
      signal: options.signal,
    });
  } catch (error) {
    await child.stop(1_000);
    throw error;
  }
  return service;
}

function describeService(name: ServiceName, child: GuardedProcess, env: Environment): ServiceProcess {
  const listener = (host: string, port: string) => localUrl({ host: env[host] ?? '127.0.0.1', port: env[port] ?? '' });
  const url = listener(...kinds[name].listener);
  const stop = () => child.stop(30_000);
  return {
    name,
    pid: child.pid,
    url,
    internalUrl: name === 'api' ? listener('INTERNAL_HOST', 'INTERNAL_PORT') : url,
    exited: child.exited,
    lines: child.lines,
    logs: () => child.lines.flatMap(parseRecord),
    kill: child.kill,
    pauseOutput: child.pauseOutput,
    resumeOutput: child.resumeOutput,
    stop,
    ready: (withinMs = 120_000) => waitUntilReady(url + kinds[name].readyPath, child, { name, withinMs }),
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

async function answersOk(url: string): Promise<boolean> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await answer.body?.cancel();
  return answer.ok;
}

function parseRecord(line: string): Record<string, unknown>[] {
  try {
    const record: unknown = JSON.parse(line);
    return typeof record === 'object' && record !== null ? [record as Record<string, unknown>] : [];
  } catch {
    return [];
  }
}
