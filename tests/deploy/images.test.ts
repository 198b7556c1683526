import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase } from '@enterprise-api/shared/ledger';
import {
  createTestDatabase,
  databaseUrl,
  ensureDatabase,
  freePorts,
  type GuardedProcess,
  sendRequest,
  spawnGuarded,
  type TestDatabase,
  testInternalSecret,
  testKeyRing,
  until,
  waitUntilReady,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { type BuiltStages, buildStages, isRoot, withinRoot } from './build-stages.ts';
import { effective, readDockerfile } from './dockerfile.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const stages = readDockerfile(join(project, 'Dockerfile'));
const production = ['api', 'webhook-worker', 'migrate'];
const targets = [...production, 'consultations', 'demo-receiver'];
/** The user of the images; a test that does not run as root cannot start processes of another one. */
const account = isRoot ? { uid: 1000, gid: 1000 } : undefined;
const folders = new Map<string, string>();
let built: BuiltStages;
let database: TestDatabase;

/** The working directory of a target. */
const appOf = (target: string) => join(folders.get(target) ?? '', 'app');

/** Starts what the image would start, in its folder and as its user, with these settings alone. */
function start(target: string, settings: Record<string, string>): Promise<GuardedProcess> {
  const [program = '', ...args] = JSON.parse(effective(stages, target, 'CMD') ?? '[]') as string[];
  const env = { PATH: built.path, NODE_ENV: 'production', LOG_LEVEL: 'warn', ...settings };
  return spawnGuarded(program, args, { cwd: appOf(target), env, account });
}

/** The exit code of the image's health check. */
function healthOf(target: string, settings: Record<string, string>): number | null {
  const [, command = ''] = /CMD (.+)$/.exec(effective(stages, target, 'HEALTHCHECK') ?? '') ?? [];
  const env = { PATH: built.path, ...settings };
  return spawnSync('/bin/sh', ['-c', command], { cwd: appOf(target), env, timeout: 20_000, ...account }).status;
}

/** Docker asks three times before it takes a container for unhealthy: an answer that takes longer than 2 s counts as none. */
async function untilHealthy(target: string, settings: Record<string, string>): Promise<void> {
  const holds = (code: number | null) => code === 0;
  await until(`${target} passes its health check`, () => healthOf(target, settings), { holds, withinMs: 30_000 });
}

beforeAll(async () => {
  database = await createTestDatabase();
  built = await buildStages(project, stages);
  for (const target of targets) folders.set(target, await built.build(target));
}, 600_000);

afterAll(async () => {
  await built[Symbol.asyncDispose]();
  await database.drop();
});

describe.each(targets)('the tree of the image %s', (target) => {
  it('can be written nowhere by its user', () => {
    const search = [folders.get(target) ?? '', '-not', '-type', 'l', '-writable', '-print', '-quit'];
    // The demo's receiver keeps its certificate and its state in folders of its own, on volumes.
    const own = ['-not', '-path', '*/var/lib/demo-*'];
    const found = execFileSync('find', [...search.slice(0, 1), ...own, ...search.slice(1)], { ...account, cwd: '/' });
    expect(found.toString()).toBe('');
  });

  it('has the licence', () => {
    expect(readFileSync(join(appOf(target), 'LICENSE'), 'utf8')).toContain('Apache License');
  });
});

describe.each(production)('the packages of the image %s', (target) => {
  const installed = () =>
    globSync('**/node_modules/{*,@*/*}/package.json', { cwd: appOf(target) }).flatMap((file) => {
      const { name, version } = JSON.parse(readFileSync(join(appOf(target), file), 'utf8'));
      return version === undefined ? [] : [`${name}@${version}`];
    });

  it('are those of its SBOM, no more and no fewer', () => {
    const bom = JSON.parse(readFileSync(join(appOf(target), 'sbom.cdx.json'), 'utf8'));
    expect(bom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { type: 'application' } } });
    const all: string[] = bom.components.map((each: { 'bom-ref': string }) => each['bom-ref']);
    // The product's own packages are links.
    const listed = all.filter((name) => !name.startsWith('@enterprise-api/'));
    expect(listed.length).toBeGreaterThan(40);
    expect([...new Set(listed)].sort()).toEqual([...new Set(installed())].sort());
  });

  it('are none of those that only development needs', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    const programs = ['api', 'shared', 'webhook-worker'].flatMap((name) => {
      const [manifest] = globSync(`{packages,services}/${name}/package.json`, { cwd: project });
      return Object.keys(JSON.parse(readFileSync(join(project, manifest ?? ''), 'utf8')).dependencies);
    });
    const forDevelopment = Object.keys(devDependencies).filter((name) => !programs.includes(name));
    expect(forDevelopment.filter((name) => existsSync(join(appOf(target), 'node_modules', name)))).toEqual([]);
  });
});

describe('the files of an image', () => {
  it.each([
    ['api', ['packages/shared', 'services/api']],
    ['webhook-worker', ['packages/shared', 'services/webhook-worker']],
    ['migrate', ['packages/shared']],
  ])('of %s are those of what it runs', (target, expected) => {
    expect(globSync('{packages,services}/*', { cwd: appOf(target) }).sort()).toEqual(expected);
  });

  it.each(production)('of %s hold nothing that is made for tests', (target) => {
    const forTests = globSync('{packages,services}/**/{testing,*.test.ts}', {
      cwd: appOf(target),
      exclude: (name) => name === 'node_modules',
    });
    expect(forTests).toEqual([]);
  });
});

describe('the command of the image', () => {
  it('migrate brings an empty database up to this version, and ends', async () => {
    const name = `${new URL(database.url).pathname.slice(1)}_empty`;
    await ensureDatabase(database.url, name);
    try {
      const migrate = await start('migrate', { DATABASE_URL: databaseUrl(database.url, name) });
      expect({ ...(await migrate.exited), lines: migrate.lines }).toMatchObject({
        code: 0,
        lines: [expect.stringMatching(/^Applied 2026-11-ledger/)],
      });
    } finally {
      const db = createDatabase({
        url: database.url,
        applicationName: 'images',
        poolSize: 1,
        onError: () => undefined,
      });
      await sql`drop database ${sql.id(name)} with (force)`.execute(db);
      await db.destroy();
    }
  });

  it('api serves, passes its health check, and stops at SIGTERM', async () => {
    const [API_PORT = '', INTERNAL_PORT = ''] = (await freePorts(2)).map(String);
    const settings = { ...stores(), INTERNAL_API_SECRET: testInternalSecret, API_PORT, INTERNAL_PORT };
    await using api = await start('api', settings);
    await waitUntilReady(`http://127.0.0.1:${API_PORT}/readyz`, api, { name: 'api', withinMs: 60_000 });
    const pages = await sendRequest({ method: 'GET', url: `http://127.0.0.1:${API_PORT}/docs` });
    expect(pages.status).toBe(200);
    await untilHealthy('api', settings);
    expect(await api.stop()).toEqual({ code: 0, signal: null });
    expect(healthOf('api', settings)).toBe(1);
  });

  it('webhook-worker becomes ready, passes its health check, and stops at SIGTERM', async () => {
    const [WORKER_PORT = ''] = (await freePorts(1)).map(String);
    const settings = { ...stores(), WORKER_PORT };
    await using worker = await start('webhook-worker', settings);
    await waitUntilReady(`http://127.0.0.1:${WORKER_PORT}/readyz`, worker, { name: 'worker', withinMs: 60_000 });
    await untilHealthy('webhook-worker', settings);
    expect(await worker.stop()).toEqual({ code: 0, signal: null });
    expect(healthOf('webhook-worker', settings)).toBe(1);
  });

  it('consultations serves and passes its health check', async () => {
    const [PORT = '', internal = ''] = (await freePorts(2)).map(String);
    const API_INTERNAL_URL = `http://127.0.0.1:${internal}`;
    const settings = { DATABASE_URL: database.url, API_INTERNAL_URL, PORT };
    await using service = await start('consultations', settings);
    await waitUntilReady(`http://127.0.0.1:${PORT}/healthz`, service, { name: 'consultations', withinMs: 60_000 });
    await untilHealthy('consultations', settings);
    service.kill('SIGKILL');
    await service.exited;
    expect(healthOf('consultations', settings)).toBe(1);
  });

  it('demo-receiver finds all of its packages: without settings it says which it needs', async () => {
    const receiver = await start('demo-receiver', {});
    expect((await receiver.exited).code).toBe(78);
    expect(receiver.lines.join('\n')).toContain('INTERNAL_API_SECRET: is required');
  });
});

function stores() {
  return { DATABASE_URL: database.url, SECRETS_ENCRYPTION_KEYS: testKeyRing };
}

describe('a command of the Dockerfile that a test executes', () => {
  it('reaches no absolute path of this machine', () => {
    const command = "rm -rf /opt/yarn-* '/usr/bin/npm' ./a packages/b && install --mode=0755 /var/lib/x > /dev/null";
    expect(withinRoot('/image', command)).toBe(
      "rm -rf /image/opt/yarn-* '/image/usr/bin/npm' ./a packages/b && install --mode=0755 /image/var/lib/x > /dev/null",
    );
  });
});
