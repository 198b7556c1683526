import { spawnSync } from 'node:child_process';
import { findRedisProgram, forStandbys, type OwnPostgres, startOwnPostgres, startRedis } from '@enterprise-api/testkit';
import type { Campaign } from './catalogue/entry.ts';
import { campaigns } from './catalogue.ts';
import type { Finding } from './finding.ts';
import { writeRow } from './report.ts';

/**
 * `make faults`: makes every run in full and writes a row for each into RESULTS.md. Arguments select runs
 * (`R1 R5-crash`) and, with `redis` or `postgres`, one of the queues. Starts its own stores.
 */
async function main(args: string[]): Promise<number> {
  const wanted = Object.entries<Campaign>(campaigns).filter(([id]) => !args.some(isRun) || args.includes(id));
  const unknown = args.filter((arg) => !isBackend(arg) && !(arg in campaigns));
  if (unknown.length > 0) throw new Error(`Unknown: ${unknown.join(' ')}. Known: ${Object.keys(campaigns).join(' ')}`);
  await using postgres = await startOwnPostgres();
  process.env.TEST_DATABASE_URL = postgres.url;
  const versions = `Node.js ${process.versions.node}, PostgreSQL ${postgres.version}, Redis ${redisVersion()}`;
  let failures = 0;
  for (const [id, campaign] of wanted) {
    const missing = campaign.missing?.();
    if (missing !== undefined) {
      process.stdout.write(`${id} not run: ${missing}\n`);
      continue;
    }
    for (const backend of backendsOf(campaign, args)) {
      const startedAt = performance.now();
      process.stdout.write(`${id} on ${backend}: ${campaign.what} … `);
      const finding = await run(campaign, backend);
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      const kept = finding.broken.length === 0;
      failures += kept ? 0 : 1;
      process.stdout.write(`${kept ? 'kept' : `NOT KEPT: ${finding.broken.join('; ')}`} (${seconds} s)\n`);
      process.stdout.write(`  ${JSON.stringify(finding.figures)}, duplicates ${finding.duplicates}\n`);
      writeRow({ ...campaign, id, backend, finding, seconds }, versions);
    }
  }
  return failures === 0 ? 0 : 1;
}

async function run(campaign: Campaign, backend: 'redis' | 'postgres'): Promise<Finding> {
  try {
    await using resources = new AsyncDisposableStack();
    const redis = backend === 'redis' ? resources.use(await startRedis()) : undefined;
    const own: { postgres?: OwnPostgres } =
      campaign.breaks === 'postgres'
        ? { postgres: resources.use(await startOwnPostgres({ settings: forStandbys })) }
        : {};
    return await campaign.full({ redisUrl: redis?.url, ...(redis && { redis }), ...own });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { lost: Number.NaN, duplicates: Number.NaN, figures: {}, broken: [`did not come to its end: ${reason}`] };
  }
}

function backendsOf(campaign: Campaign, args: readonly string[]): ('redis' | 'postgres')[] {
  const all = campaign.backends === 'both' ? (['redis', 'postgres'] as const) : [campaign.backends];
  return all.filter((backend) => !args.some(isBackend) || args.includes(backend));
}

function isBackend(arg: string): boolean {
  return arg === 'redis' || arg === 'postgres';
}

function isRun(arg: string): boolean {
  return !isBackend(arg);
}

function redisVersion(): string {
  const answer = spawnSync(findRedisProgram() ?? 'redis-server', ['--version'], { encoding: 'utf8' });
  return /v=(\S+)/.exec(answer.stdout)?.[1] ?? 'unknown';
}

process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
process.exitCode = await main(process.argv.slice(2));
