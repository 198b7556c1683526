import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  askRedis,
  createTemporaryFolder,
  ensureTemplateDatabase,
  findChromium,
  findIngress,
  findKubectl,
  findPgBouncer,
  findPromtool,
  findRedisProgram,
  startEmbeddedPostgres,
} from '@enterprise-api/testkit';

const say = (line: string) => void process.stdout.write(`${line}\n`);

/** Programs that tests start, by their Debian packages. */
const programs = {
  'redis-server': findRedisProgram,
  nginx: () => findIngress('nginx'),
  caddy: () => findIngress('caddy'),
  pgbouncer: findPgBouncer,
  chromium: findChromium,
  'kubernetes-client': findKubectl,
  prometheus: findPromtool,
} as const;

type Package = keyof typeof programs;

let stores: Promise<AsyncDisposableStack> | undefined;

/**
 * Starts PostgreSQL once for a run of jest, finds a Redis, and installs what else these tests need. The tests that need a
 * program which cannot be installed fail and say so; all other tests run.
 */
export async function prepare(...packages: Package[]): Promise<void> {
  // On an exit PostgreSQL is killed and its folder removed; a signal alone would leave the folder.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  stores ??= prepareStores();
  await stores;
  install([...packages, ...(process.env.TEST_POOLER ? (['pgbouncer'] as const) : [])]);
}

/** Stops PostgreSQL. */
export async function tearDown(): Promise<void> {
  const started = await stores;
  stores = undefined;
  await started?.disposeAsync();
}

async function prepareStores(): Promise<AsyncDisposableStack> {
  const resources = new AsyncDisposableStack();
  const redisUrl = process.env.REDIS_URL;
  if (redisUrl) await useRedis(redisUrl);
  else install(['redis-server']);
  process.env.TEST_DATABASE_URL ||= await startPostgres(resources);
  await ensureTemplateDatabase(process.env.TEST_DATABASE_URL);
  // Each service that a test starts would compile and strip its types anew: half of the time until it is ready.
  process.env.NODE_COMPILE_CACHE ??= join(process.cwd(), 'node_modules/.cache/compile');
  // Services under test get the settings that a test names, not the settings of the developer's shell.
  for (const name of ['DATABASE_URL', 'REDIS_URL']) delete process.env[name];
  return resources;
}

async function useRedis(url: string): Promise<void> {
  const problem = await askRedis(url);
  if (problem !== undefined)
    say(`REDIS_URL is set, but Redis does not answer there: ${problem}. The tests that use it will fail.`);
  process.env.TEST_REDIS_URL = url;
}

async function startPostgres(resources: AsyncDisposableStack): Promise<string> {
  const folder = resources.use(createTemporaryFolder(`test-${process.pid}`, parentFolder())).path;
  // The server runs as user `postgres` where root starts the tests.
  chmodSync(folder, 0o711);
  // Otherwise 1 GB of WAL may take memory.
  const settings = { max_wal_size: '256MB' };
  const options = { dataFolder: folder, database: 'postgres', durable: false, settings, say: () => undefined };
  const postgres = resources.use(await startEmbeddedPostgres(options));
  say(`PostgreSQL ${postgres.version} on 127.0.0.1:${postgres.port}, for this run.`);
  return postgres.url;
}

/**
 * The parent of the server's files: memory, where 4 GiB of it are free. Each suite creates a database of 870 files and drops
 * it; on ext4 that took a fifth of the CPU time of a run, and a busy disk made PostgreSQL stall.
 */
function parentFolder(): string {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return Math.min(process.availableMemory(), bavail * bsize) > 4 * 2 ** 30 ? memory : tmpdir();
}

// A policy-rc.d that exits with 101 prevents packages from starting their own servers.
const installScript = `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\\nexit 101\\n' >"$policy" && chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
options='-o DPkg::Lock::Timeout=60 -o Acquire::Retries=2 -o Acquire::http::Timeout=30'
apt-get $options update
apt-get $options install --yes --no-install-recommends "$@"
`;

/** Installs the packages whose programs are missing, where root or sudo without a password permits it. */
function install(packages: readonly Package[]): void {
  const missing = () => packages.filter((name) => programs[name]() === undefined);
  const names = missing();
  if (names.length === 0) return;
  say(`Missing on this machine: ${names.join(', ')}. Installing with apt-get …`);
  const command = ['/bin/sh', '-c', installScript, 'install', ...names];
  const [program = '', ...args] = process.getuid?.() === 0 ? command : ['sudo', '-n', ...command];
  spawnSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const still = missing();
  if (still.length > 0)
    say(`Tests that need ${still.join(', ')} will fail. Install: sudo apt-get install ${still.join(' ')}`);
}
