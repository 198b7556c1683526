import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { durationSchema } from '@enterprise-api/shared/runtime';
import {
  createTestDatabase,
  freePorts,
  projectFolder,
  sendRequest,
  spawnGuarded,
  type TestDatabase,
  testInternalSecret,
  testKeyRing,
  waitUntilReady,
} from '@enterprise-api/testkit';
import { describeWith } from '@enterprise-api/testkit/toolchains';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseConfig as parseWorkerConfig, stopWithinMs } from '../../services/webhook-worker/src/config.ts';
import { environmentOf, readUnit, type UnitName, unitNames } from './systemd-unit.ts';

const services = ['enterprise-api@', 'enterprise-api-worker@'] as const;
let database: TestDatabase;
let files: Record<string, string>;
let ports: { public: number; internal: number; worker: number };

beforeAll(async () => {
  database = await createTestDatabase();
  const [open = 0, internal = 0, worker = 0] = await freePorts(3);
  ports = { public: open, internal, worker };
  const etc = '/etc/enterprise-api';
  files = {
    [`${etc}/common.env`]: `DATABASE_URL=${database.url}\nSECRETS_ENCRYPTION_KEYS=${testKeyRing}\nLOG_LEVEL=warn\n`,
    [`${etc}/api.env`]: `# Who may call.\nINTERNAL_API_SECRET=${testInternalSecret}\n`,
    [`${etc}/api-2.env`]: `API_PORT=${ports.public}\nINTERNAL_PORT=${ports.internal}\n`,
    [`${etc}/worker-2.env`]: `WORKER_PORT=${ports.worker}\n`,
  };
});

afterAll(async () => database.drop());

/** Starts what systemd would start for the second instance of a unit, with its settings alone. */
function start(name: UnitName) {
  const unit = readUnit(name, projectFolder);
  const [program = '', ...args] = unit.one('ExecStart').split(' ');
  const env = { PATH: '/usr/bin:/bin', ...environmentOf(unit, '2', files) };
  return spawnGuarded(program, args, { cwd: unit.one('WorkingDirectory'), env });
}

it('the commands migrate, serve and stop with the settings of the files', async () => {
  await using migration = await start('enterprise-api-migrate@');
  expect(await migration.exited).toMatchObject({ code: 0 });
  await using api = await start('enterprise-api@');
  await using worker = await start('enterprise-api-worker@');
  const addresses = { api: `http://127.0.0.1:${ports.public}`, worker: `http://127.0.0.1:${ports.worker}` };
  await waitUntilReady(`${addresses.api}/readyz`, api, { name: 'the API', withinMs: 60_000 });
  await waitUntilReady(`${addresses.worker}/readyz`, worker, { name: 'the worker', withinMs: 60_000 });
  const internal = `http://127.0.0.1:${ports.internal}/internal/v1/stats`;
  const headers = { authorization: `Bearer ${testInternalSecret}` };
  expect(await sendRequest({ method: 'GET', url: internal, headers })).toMatchObject({ status: 200 });
  expect(await Promise.all([api.stop(30_000), worker.stop(30_000)])).toMatchObject([{ code: 0 }, { code: 0 }]);
});

describe.each(services)('the unit %s', (name) => {
  const unit = readUnit(name, projectFolder);

  it('starts Node.js as npm does', () => {
    const script = name === 'enterprise-api@' ? 'api' : 'worker';
    const { scripts } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'));
    expect(`exec ${unit.one('ExecStart').split('/node_modules/.bin/')[1]}`).toBe(scripts[script]);
  });

  it('is started again whatever happens, except with unusable settings', () => {
    expect([unit.one('Restart'), unit.one('RestartPreventExitStatus')]).toEqual(['always', '78']);
    expect(unit.one('StartLimitIntervalSec')).toBe('0');
  });

  it('has more time to stop than a service may take', () => {
    const worker = parseWorkerConfig({ DATABASE_URL: database.url, SECRETS_ENCRYPTION_KEYS: testKeyRing });
    if (!worker.ok) throw new Error(worker.problems.join());
    const main = readFileSync(join(projectFolder, 'services/api/src/main.ts'), 'utf8');
    const apiStopMs = Number(/stopWithinMs = ([\d_]+);/.exec(main)?.[1]?.replaceAll('_', ''));
    const most = name === 'enterprise-api@' ? apiStopMs : stopWithinMs(worker.settings);
    expect(durationSchema.parse(`${unit.one('TimeoutStopSec')}s`)).toBeGreaterThan(most);
  });

  it('loses no line of its log to a rate limit of the journal', () => {
    expect(unit.one('LogRateLimitIntervalSec')).toBe('0');
  });

  it('runs as a user that owns nothing, without capabilities', () => {
    expect([unit.one('DynamicUser'), unit.one('NoNewPrivileges'), unit.one('CapabilityBoundingSet')]).toEqual([
      'yes',
      'yes',
      '',
    ]);
  });
});

it('migrations are those of the version that is asked for, while processes run the version of the link', () => {
  const folderOf = (name: UnitName) => readUnit(name).one('WorkingDirectory');
  expect(services.map(folderOf)).toEqual(['/opt/enterprise-api/current', '/opt/enterprise-api/current']);
  expect(folderOf('enterprise-api-migrate@')).toBe('/opt/enterprise-api/%i');
});

it('the worker alone is kept from private networks and from the metadata address', () => {
  const denied = (name: UnitName) => readUnit(name, projectFolder).all('IPAddressDeny').join(' ');
  for (const range of ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'link-local'])
    expect(denied('enterprise-api-worker@')).toContain(range);
  expect(denied('enterprise-api@')).toBe('');
});

describeWith(['systemd'], (verifier) => {
  it('systemd reads the units without a complaint', () => {
    const folder = mkdtempSync(join(tmpdir(), 'units-'));
    try {
      const paths = unitNames.map((name) => join(folder, `${name}.service`));
      for (const [index, name] of unitNames.entries())
        writeFileSync(paths[index] ?? '', readUnit(name, projectFolder).text);
      const { status, stderr } = spawnSync(verifier, ['verify', '--man=no', ...paths], { encoding: 'utf8' });
      // Units of the machine itself may be wrong: what counts is what is said of ours.
      expect(stderr.split('\n').filter((line) => line.includes('enterprise-api'))).toEqual([]);
      expect(status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
