import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  lockFolder,
  projectFolder,
  type RedisServer,
  startEmbeddedPostgres,
  startRedis,
} from '@enterprise-api/testkit';
import { Redis } from 'ioredis';
import { Client } from 'pg';

/** A PostgreSQL and a Redis of the benchmark's own, with durable settings. */
export interface Stores extends AsyncDisposable {
  postgres: { pid: number; url: string; version: string; folder: string };
  redis: RedisServer;
  redisVersion: string;
  /** For temporary files; removed at the end. */
  readonly folder: string;
  /** Empties Redis, and lets PostgreSQL write everything to disk. */
  settle(): Promise<void>;
}

const folder = join(projectFolder, '.data/bench');

/** The embedded server has fsync and synchronous_commit on by default; Redis syncs its log every second. */
const redisSettings = { appendonly: 'yes', appendfsync: 'everysec' };

export async function startStores(say: (line: string) => void): Promise<Stores> {
  await using building = new AsyncDisposableStack();
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  building.use(asAsync(lockFolder(join(folder, 'lock'))));
  const postgres = await startEmbeddedPostgres({ dataFolder: folder, database: 'bench', durable: true, say });
  building.defer(async () => {
    await postgres.stop();
    // For a next run on the same ledger: W11 takes minutes to fill it.
    if (process.env.KEEP) return;
    for (const used of [postgres.folder, folder]) rmSync(used, { recursive: true, force: true });
  });
  const admin = new Client({ connectionString: postgres.url });
  await admin.connect();
  building.defer(() => admin.end());
  await dropLeftovers(admin);
  await requireDurability(admin);
  const redisFolder = join(folder, 'redis');
  rmSync(redisFolder, { recursive: true, force: true });
  mkdirSync(redisFolder);
  const redis = building.use(await startRedis({ settings: redisSettings, folder: redisFolder }));
  const redisAdmin = new Redis(redis.url);
  building.defer(async () => redisAdmin.disconnect());
  const redisVersion = /redis_version:(\S+)/.exec(await redisAdmin.info('server'))?.[1] ?? 'unknown';
  const resources = building.move();
  // The testkit makes the databases of the runs on the server that this variable names.
  process.env.TEST_DATABASE_URL = postgres.url;
  return {
    postgres,
    redis,
    redisVersion,
    folder,
    settle: async () => {
      await admin.query('checkpoint');
      await redisAdmin.flushall();
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Drops the databases that a killed benchmark left behind. */
async function dropLeftovers(admin: Client): Promise<void> {
  const { rows } = await admin.query<{ datname: string }>(
    `select datname from pg_database where datname like 'test\\_%'`,
  );
  for (const { datname } of rows) await admin.query(`drop database ${admin.escapeIdentifier(datname)} with (force)`);
}

async function requireDurability(admin: Client): Promise<void> {
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    const { rows } = await admin.query<Record<string, string>>(`show ${setting}`);
    if (rows[0]?.[setting] !== 'on')
      throw new Error(`PostgreSQL runs with ${setting} off: its figures would not count.`);
  }
}

function asAsync(lock: Disposable): AsyncDisposable {
  return { [Symbol.asyncDispose]: async () => lock[Symbol.dispose]() };
}
