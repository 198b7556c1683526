import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase } from '@enterprise-api/shared/ledger';
import { type GuardedProcess, spawnGuarded, startEmbeddedPostgres } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';

const root = fileURLToPath(new URL('../..', import.meta.url));
const eventTypes = [
  'batch.completed',
  'batch.failed',
  'batch.partial_failure',
  'consultation.completed',
  'consultation.failed',
];

/** `make demo` and `make start`, as `make` runs them, in a data folder of their own. Each test goes on from the data of the one before. */
describe('the tour', () => {
  let folder: string;
  let dataFolder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'enterprise-api-demo-'));
    dataFolder = join(folder, 'data');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (args: string[], options: { env?: Record<string, string>; onLine?: (line: string) => void } = {}) => {
    const ports = { API_PORT: '0', INTERNAL_PORT: '0', WORKER_PORT: '0' };
    const env = { PATH: process.env.PATH, LOCAL_DATA_DIR: dataFolder, ...ports, ...options.env };
    return spawnGuarded(process.execPath, ['tools/dev/main.ts', ...args], { ...options, cwd: root, env });
  };
  const facts = () => JSON.parse(readFileSync(join(dataFolder, 'demo.json'), 'utf8')) as Record<string, string>;
  const count = (tour: GuardedProcess, words: string) => tour.lines.filter((line) => line.includes(words)).length;

  it('demo: asks for work that ends in each type of event, verifies its delivery, lists it, and exits 0', async () => {
    const tour = await run(['--demo']);
    const exit = await tour.exited;
    expect({ ...exit, lines: tour.lines }).toMatchObject({ code: 0 });
    for (const type of eventTypes)
      expect(tour.lines).toContainEqual(expect.stringMatching(`✓ ${type} +signature verified`));
    expect(tour.lines).toContainEqual(expect.stringMatching(/GET \/v1\/batches\/bat_\w+ {2}partial_failure$/));
    for (const type of eventTypes)
      expect(tour.lines).toContainEqual(expect.stringMatching(`${type} +succeeded +1 +204`));
    expect(Object.keys(facts()).sort()).toEqual([
      'api_key',
      'api_url',
      'ca_file',
      'database_url',
      'events_secret',
      'internal_secret',
      'internal_url',
      'organization_id',
      'receiver_url',
      'webhook_id',
      'worker_url',
    ]);
    expect(statSync(join(dataFolder, 'demo.json')).mode & 0o777).toBe(0o600);
    expect(tour.lines.join('\n')).not.toContain('\x1b');
  });

  it('start: keeps data, organization, key and webhook of the run before, serves, and stops cleanly', async () => {
    const before = facts();
    const serving = Promise.withResolvers<void>();
    const tour = await run([], { onLine: (line) => line.includes('/internal/v1/events') && serving.resolve() });
    await Promise.race([serving.promise, tour.exited]);
    expect(count(tour, 'signature verified')).toBe(5);
    const now = facts();
    for (const name of ['organization_id', 'api_key', 'webhook_id', 'receiver_url'])
      expect(now[name]).toBe(before[name]);

    const headers = { authorization: `Bearer ${now.api_key}` };
    const webhooks = await fetch(`${now.api_url}/v1/webhooks`, { headers });
    expect(await webhooks.json()).toMatchObject({ data: [{ id: now.webhook_id, url: now.receiver_url }] });
    const history = await fetch(`${now.api_url}/v1/webhooks/deliveries?status=succeeded`, { headers });
    expect(((await history.json()) as { data: unknown[] }).data).toHaveLength(10);

    const second = await run(['--demo']);
    expect(await second.exited).toMatchObject({ code: 1 });
    expect(second.lines).toEqual([expect.stringContaining(`Another run is going on here (process ${tour.pid}).`)]);

    tour.kill('SIGINT');
    expect(await tour.exited).toEqual({ code: 0, signal: null });
    await expect(fetch(`${now.api_url}/healthz`)).rejects.toThrow('fetch failed');
  });

  it('demo: replaces lost state and keys, and never makes a second webhook', async () => {
    const before = facts();
    rmSync(join(dataFolder, 'demo-state.json'));
    rmSync(join(dataFolder, 'secrets.json'));
    const tour = await run(['--demo']);
    expect({ ...(await tour.exited), lines: tour.lines }).toMatchObject({ code: 0 });
    const now = facts();
    expect(now.organization_id).toBe(before.organization_id);
    expect(now.api_key).not.toBe(before.api_key);
    expect(now.webhook_id).not.toBe(before.webhook_id);
  });

  it('demo: names the service that does not start, shows its message, and exits 1', async () => {
    const tour = await run(['--demo'], { env: { WORKER_CONCURRENCY: 'many' } });
    expect(await tour.exited).toMatchObject({ code: 1 });
    expect(tour.lines).toContainEqual(expect.stringContaining('The worker ended (exit code 78).'));
    expect(tour.lines).toContainEqual(expect.stringContaining('WORKER_CONCURRENCY'));
  });

  it('start: on data of another version, says in one sentence to remove them, and exits 1', async () => {
    const say = () => undefined;
    {
      await using postgres = await startEmbeddedPostgres({
        dataFolder,
        database: 'enterprise_api',
        durable: true,
        say,
      });
      const db = createDatabase({ url: postgres.url, applicationName: 'test', poolSize: 1 });
      await sql`update kysely_migration set name = '0001-' || name`.execute(db);
      await db.destroy();
    }
    const tour = await run([]);
    expect(await tour.exited).toMatchObject({ code: 1 });
    expect(tour.lines).toContainEqual(expect.stringMatching(/of another version .* remove \.data/));
  });
});
