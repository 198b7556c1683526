import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureTemplateDatabase, startEmbeddedPostgres } from '@enterprise-api/testkit';
import { Interruption, onInterruption } from '../dev/interruption.ts';
import { describeAreas, sumByArea } from './areas.ts';
import { type JestRun, listTests } from './jest.ts';
import { describeMissing, describeMissingToolchain, findMissingToolchains, findPrograms } from './missing-programs.ts';
import type { RedisSource } from './redis.ts';
import { runSuites } from './run-suites.ts';
import type { SuiteResult } from './suite-results.ts';
import { needPostgres, readSuites } from './suites.ts';
import { describeSkipped, totalsLine } from './totals.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const say = (line: string) => void process.stdout.write(`${line}\n`);

/** `make test`: starts what the tests need, runs jest with the given arguments, prints the totals last. */
async function main(args: string[], signal: AbortSignal): Promise<number> {
  await using resources = new AsyncDisposableStack();
  const folder = temporaryFolder();
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const { DATABASE_URL: _database, REDIS_URL: givenUrl, ...inherited } = process.env;
  const run: JestRun = { project, signal, env: { ...inherited, NODE_ENV: 'test' } };
  const files = await listTests(args, run);
  const search = { env: process.env, say, signal, givenRedisUrl: givenUrl || undefined };
  const suites = readSuites(files);
  const toolchains = findMissingToolchains(suites);
  const { redis, missing } = await findPrograms(suites, search);
  const databaseUrl = needPostgres(files) ? await startPostgres(folder, resources, signal) : undefined;
  const env = { ...run.env, TEST_DATABASE_URL: databaseUrl, ...redisSettings(redis) };
  const notRun = new Set([...missing, ...toolchains].flatMap((each) => each.notRun));
  const runnable = files.filter((file) => !notRun.has(file));
  const isEmpty = notRun.size > 0 && runnable.length === 0;
  const { exitCode, results } = isEmpty
    ? { exitCode: 0, results: [] }
    : await runSuites(notRun.size > 0 ? runnable : undefined, { ...run, args, env, folder });
  const shorten = (file: string) => file.replace(project, '');
  for (const program of missing) say(describeMissing(program, shorten));
  for (const toolchain of toolchains) say(describeMissingToolchain(toolchain, shorten));
  reportTotals(results, exitCode);
  return (exitCode ?? 1) || (missing.length > 0 ? 1 : 0);
}

function reportTotals(results: readonly SuiteResult[] | undefined, exitCode: number | null): void {
  if (results === undefined) {
    if (exitCode !== 0) say('jest ended before it could report its totals.');
    return;
  }
  const areas = sumByArea(results);
  if (areas.length > 1) for (const line of describeAreas(areas)) say(line);
  const skipped = describeSkipped(results);
  if (skipped !== undefined) say(skipped);
  say(totalsLine(results));
}

/** A new folder that user `postgres` can reach too. Removes the folders of runs that were killed. */
function temporaryFolder(): string {
  const prefix = 'enterprise-api-test-';
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
    if (pid > 0 && !isAlive(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  chmodSync(folder, 0o711);
  return folder;
}

async function startPostgres(folder: string, resources: AsyncDisposableStack, signal: AbortSignal): Promise<string> {
  const given = process.env.TEST_DATABASE_URL;
  const url = given || resources.use(await embeddedPostgres(folder, signal)).url;
  await ensureTemplateDatabase(url);
  return url;
}

async function embeddedPostgres(dataFolder: string, signal: AbortSignal) {
  const quiet = () => undefined;
  const options = { dataFolder, database: 'postgres', durable: false, signal };
  const postgres = await startEmbeddedPostgres({ ...options, say: quiet });
  say(`PostgreSQL ${postgres.version} on 127.0.0.1:${postgres.port}, for this run.`);
  return postgres;
}

function redisSettings(redis: RedisSource | undefined): Record<string, string | undefined> {
  return { TEST_REDIS_URL: redis?.kind === 'given' ? redis.url : undefined };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

try {
  process.exitCode = await main(process.argv.slice(2), onInterruption());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof Interruption ? error.exitCode : 1;
}
