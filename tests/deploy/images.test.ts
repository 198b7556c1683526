import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createDatabase } from '@enterprise-api/shared/ledger';
import {
  createTemporaryFolder,
  createTestDatabase,
  freePorts,
  type GuardedProcess,
  projectFolder as project,
  sendRequest,
  spawnGuarded,
  type TestDatabase,
  testInternalSecret,
  testKeyRing,
  waitUntilReady,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { inForce, linesOf } from './dockerfile.ts';

// Without Docker: the commands of the Dockerfile that install packages, in an empty folder with the files that it copies.
const images = [
  {
    target: 'api',
    sources: [
      'packages/cli',
      'packages/sdk',
      'packages/shared',
      'services/api',
      'docs/customers',
      'docs/operators/runbooks.md',
    ],
  },
  { target: 'webhook-worker', sources: ['packages/shared', 'services/webhook-worker'] },
  { target: 'migrate', sources: ['packages/shared'] },
];
const resources = new AsyncDisposableStack();
const folders = new Map<string, string>();
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  resources.defer(() => database.drop());
  for (const { target, sources } of images) folders.set(target, await build(target, sources));
}, 600_000);
afterAll(() => resources.disposeAsync());

async function build(target: string, sources: readonly string[]): Promise<string> {
  const folder = resources.use(createTemporaryFolder(`image-${target}`)).path;
  const manifests = linesOf('manifests').flatMap((line) => /^COPY (.+) \S+$/.exec(line)?.[1]?.split(' ') ?? []);
  for (const file of manifests) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    cpSync(join(project, file), join(folder, file));
  }
  const inherited = Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_'));
  const env = { ...Object.fromEntries(inherited), NODE_ENV: 'production', npm_config_prefer_offline: 'true' };
  await promisify(execFile)('sh', ['-ec', inForce(`${target}-packages`, 'RUN') ?? 'false'], { cwd: folder, env });
  const filter = (file: string) => !/\/(node_modules|testing|dist)$|\.test\.ts$/.test(file);
  for (const path of sources) cpSync(join(project, path), join(folder, path), { recursive: true, filter });
  return folder;
}

const appOf = (target: string) => folders.get(target) ?? '';

/** Starts what the image would start, with these settings alone. */
function start(target: string, settings: Record<string, string>): Promise<GuardedProcess> {
  const [, ...args] = JSON.parse(inForce(target, 'CMD') ?? '[]') as string[];
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', LOG_LEVEL: 'warn', ...settings };
  return spawnGuarded(process.execPath, args, { cwd: appOf(target), env });
}

describe.each(images)('the packages of the image $target', ({ target, sources }) => {
  it('are those of its SBOM, no more and no fewer', () => {
    const bom = JSON.parse(readFileSync(join(appOf(target), 'sbom.cdx.json'), 'utf8'));
    expect(bom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { type: 'application' } } });
    const all: string[] = bom.components.map((each: { 'bom-ref': string }) => each['bom-ref']);
    // The product's own packages are links.
    const listed = all.filter((name) => !name.startsWith('@enterprise-api/'));
    const installed = globSync('**/node_modules/{*,@*/*}/package.json', { cwd: appOf(target) }).flatMap((file) => {
      const { name, version } = JSON.parse(readFileSync(join(appOf(target), file), 'utf8'));
      return version === undefined ? [] : [`${name}@${version}`];
    });
    expect(listed.length).toBeGreaterThan(40);
    expect([...new Set(listed)].sort()).toEqual([...new Set(installed)].sort());
  });

  it('are none of those that only development needs, and no other program is there', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    const needed = [
      'packages/cli',
      'packages/sdk',
      'packages/shared',
      'services/api',
      'services/webhook-worker',
    ].flatMap((folder) =>
      Object.keys(JSON.parse(readFileSync(join(project, folder, 'package.json'), 'utf8')).dependencies),
    );
    const forDevelopment = Object.keys(devDependencies).filter((name) => !needed.includes(name));
    expect(forDevelopment.filter((name) => existsSync(join(appOf(target), 'node_modules', name)))).toEqual([]);
    expect(globSync('{packages,services}/*', { cwd: appOf(target) }).sort()).toEqual(
      sources.filter((path) => !path.startsWith('docs/')),
    );
  });
});

describe('the command of the image', () => {
  it('migrate brings an empty database up to this version, and ends', async () => {
    const db = createDatabase({ url: database.url, applicationName: 'images', poolSize: 1 });
    await sql`drop schema public cascade`.execute(db);
    await sql`create schema public`.execute(db);
    await db.destroy();
    const migrate = await start('migrate', { DATABASE_URL: database.url });
    expect({ ...(await migrate.exited), lines: migrate.lines }).toMatchObject({
      code: 0,
      lines: [expect.stringMatching(/^Applied 2026-11-ledger/)],
    });
  });

  it('api serves, and stops at SIGTERM', async () => {
    const [API_PORT = '', INTERNAL_PORT = ''] = (await freePorts(2)).map(String);
    const settings = { ...stores(), INTERNAL_API_SECRET: testInternalSecret, API_PORT, INTERNAL_PORT };
    await using api = await start('api', settings);
    await waitUntilReady(`http://127.0.0.1:${API_PORT}/readyz`, api, { name: 'api', withinMs: 60_000 });
    const pages = await sendRequest({ method: 'GET', url: `http://127.0.0.1:${API_PORT}/docs` });
    expect(pages.status).toBe(200);
    expect(await api.stop()).toEqual({ code: 0, signal: null });
  });

  it('api writes the page of the runbooks', () => {
    const folder = appOf('api');
    execFileSync(process.execPath, ['services/api/src/runbooks-main.ts', 'runbooks.html'], { cwd: folder });
    expect(readFileSync(join(folder, 'runbooks.html'), 'utf8')).toContain('id="apidown"');
  });

  it('webhook-worker becomes ready, and stops at SIGTERM', async () => {
    const [WORKER_PORT = ''] = (await freePorts(1)).map(String);
    await using worker = await start('webhook-worker', { ...stores(), WORKER_PORT });
    await waitUntilReady(`http://127.0.0.1:${WORKER_PORT}/readyz`, worker, { name: 'worker', withinMs: 60_000 });
    expect(await worker.stop()).toEqual({ code: 0, signal: null });
  });
});

function stores() {
  return { DATABASE_URL: database.url, SECRETS_ENCRYPTION_KEYS: testKeyRing };
}
