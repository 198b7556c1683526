import { connectRedis } from '@enterprise-api/shared/redis';
import { Redis } from 'ioredis';
import { findProgram } from '../processes/find-program.ts';
import { freePort } from '../processes/free-ports.ts';
import { type GuardedProcess, spawnGuarded } from '../processes/guarded-process.ts';
import { createTemporaryFolder, type TemporaryFolder } from '../processes/temporary-folder.ts';

export interface TestRedis extends AsyncDisposable {
  readonly url: string;
  close(): Promise<void>;
}

export interface StartRedisOptions {
  /** The port of an earlier run, for a restart at the same address; a free one by default. */
  port?: number;
  /** Where it keeps its files; a folder of its own by default, removed at the end. */
  folder?: string;
  /** A configuration file before the settings; Sentinels need one that they may write. */
  file?: string;
  /** More settings, by name, for example `{ appendonly: 'yes', maxmemory: '64mb' }`. */
  settings?: Readonly<Record<string, string>>;
}

export interface RedisServer extends TestRedis {
  readonly port: number;
  readonly folder: string;
  readonly process: GuardedProcess;
  /** SIGKILL, as when the machine dies. Data that are not on disk are lost. */
  crash(): Promise<void>;
  /** SIGSTOP and SIGCONT: connections stay, answers do not come. */
  freeze(): void;
  thaw(): void;
  /** Starts it again at the same port, in the same folder. */
  restart(): Promise<RedisServer>;
}

/** Programs that serve as Redis, in the order of preference. */
export const redisPrograms = ['redis-server', 'valkey-server'] as const;

/** What Redis writes once it serves. */
const readyLine = /Ready to accept connections|Sentinel ID is/;

/** A running Redis that tests may use but not break (`TEST_REDIS_URL`, given by the test runner). */
export function sharedRedisUrl(): string | undefined {
  return process.env.TEST_REDIS_URL || undefined;
}

/** @returns why no Redis answers at this URL; undefined when one does */
export async function askRedis(url: string): Promise<string | undefined> {
  const once = { maxRetriesPerRequest: 1, retryStrategy: () => null, sentinelRetryStrategy: () => null };
  const redis = connectRedis(url, { lazyConnect: true, ...once });
  let problem: string | undefined;
  redis.on('error', (error: Error) => {
    problem ??= error.message;
  });
  try {
    await redis.connect();
    await redis.ping();
    return undefined;
  } catch (error) {
    return problem ?? (error instanceof Error ? error.message : String(error));
  } finally {
    redis.disconnect();
  }
}

/** The path of a Redis server's program on this machine. */
export function findRedisProgram(): string | undefined {
  return findProgram(redisPrograms, process.env.PATH);
}

/**
 * An empty Redis for one test file: an unused database of the shared one when the runner was given one, else a server
 * of its own.
 */
export async function createTestRedis(): Promise<TestRedis> {
  const shared = sharedRedisUrl();
  return shared === undefined ? startRedis() : reserveEmptyDatabase(shared);
}

/**
 * Starts a Redis server that the test may kill, stop and restart.
 *
 * @throws when neither `redis-server` nor `valkey-server` is on the PATH
 */
export async function startRedis(options: StartRedisOptions = {}): Promise<RedisServer> {
  const program = findRedisProgram();
  if (program === undefined) throw new Error(`This test starts a Redis server: install ${redisPrograms.join(' or ')}.`);
  const own = options.folder === undefined ? createTemporaryFolder('redis') : undefined;
  return launch({
    program,
    port: options.port ?? (await freePort()),
    folder: options.folder ?? own?.path ?? '',
    own,
    file: options.file,
    settings: {
      ...(options.file === undefined && { save: '', 'maxmemory-policy': 'noeviction' }),
      bind: '127.0.0.1',
      ...options.settings,
    },
  });
}

interface Launch {
  program: string;
  port: number;
  folder: string;
  /** Removed at the end. */
  own: TemporaryFolder | undefined;
  file: string | undefined;
  settings: Readonly<Record<string, string>>;
}

async function launch(how: Launch): Promise<RedisServer> {
  const settings = { ...how.settings, port: String(how.port), dir: how.folder };
  const ready = Promise.withResolvers<void>();
  const server = await spawnGuarded(
    how.program,
    [
      ...(how.file === undefined ? [] : [how.file, '--sentinel']),
      ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    ],
    {
      env: process.env,
      cwd: how.folder,
      onLine: (line) => {
        if (readyLine.test(line)) ready.resolve();
      },
    },
  );
  const died = server.exited.then(() => {
    throw new Error(`${how.program} ended at once:\n${server.lines.slice(-10).join('\n')}`);
  });
  await Promise.race([ready.promise, died]);
  // From here on the test decides when it ends.
  died.catch(() => undefined);
  return describeServer(server, how);
}

function describeServer(server: GuardedProcess, how: Launch): RedisServer {
  const crash = async () => {
    server.kill('SIGKILL');
    await server.exited;
  };
  const close = async () => {
    // A frozen server does not handle SIGTERM, and a test's data need not be saved.
    await crash();
    how.own?.[Symbol.dispose]();
  };
  return {
    url: `redis://127.0.0.1:${how.port}`,
    port: how.port,
    folder: how.folder,
    process: server,
    crash,
    close,
    freeze: () => server.kill('SIGSTOP'),
    thaw: () => server.kill('SIGCONT'),
    restart: async () => {
      await crash();
      return launch(how);
    },
    [Symbol.asyncDispose]: close,
  };
}

const ownerKey = 'enterprise-api-test-owner';

/** Reserves an empty database of a shared server. One with keys belongs to another program, and must not be flushed. */
async function reserveEmptyDatabase(shared: string): Promise<TestRedis> {
  for (let database = 15; database >= 1; database--) {
    const url = new URL(shared);
    url.pathname = `/${database}`;
    const redis = new Redis(url.href, { lazyConnect: true, maxRetriesPerRequest: 1 });
    redis.on('error', () => undefined);
    await redis.connect();
    if ((await redis.dbsize()) === 0 && (await redis.set(ownerKey, String(process.pid), 'EX', 3_600, 'NX')) === 'OK') {
      const close = async () => {
        await redis.flushdb();
        redis.disconnect();
      };
      return { url: url.href, close, [Symbol.asyncDispose]: close };
    }
    redis.disconnect();
  }
  throw new Error('The given Redis has no empty database from 1 to 15 for this test.');
}
