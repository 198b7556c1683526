import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from '@jest/globals';

const folder = mkdtempSync(join(tmpdir(), 'sizing-'));
cpSync(fileURLToPath(new URL('.', import.meta.url)), folder, { recursive: true });
afterAll(() => rmSync(folder, { recursive: true }));

/** Without node_modules: nothing but Node.js is needed. */
function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['main.ts', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: {},
  });
  return { status, stdout, stderr };
}

it('prints a plan', () => {
  const { status, stdout, stderr } = run('--events-per-second', '500', '--webhooks-per-event', '3');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  for (const part of ['API', 'worker', 'PostgreSQL', 'Redis', 'max_connections', 'overlays/production'])
    expect(stdout).toContain(part);
});

it('names what overlays/production has, where that fits', () => {
  const { stdout } = run('--events-per-second', '500', '--webhooks-per-event', '3');
  const overlay = readFileSync(
    new URL('../../deploy/kubernetes/overlays/production/autoscale-workers.yaml', import.meta.url),
    'utf8',
  );
  const [least, most] = [/minReplicaCount: (\d+)/, /maxReplicaCount: (\d+)/].map((line) => line.exec(overlay)?.[1]);
  const fallback = /fallback: .*replicas: (\d+)/.exec(overlay)?.[1];
  expect(stdout).toContain(`minReplicaCount ${least}, maxReplicaCount ${most}, fallback ${fallback}.`);
});

it('prints it as JSON', () => {
  const { stdout } = run('--events-per-second', '5', '--json', '--queue', 'postgres');
  expect(JSON.parse(stdout)).toMatchObject({ workload: { eventsPerSecond: 5 }, plan: { overlay: 'small' } });
});

it('names what is wrong, and exits with 2', () => {
  expect(run('--events-per-second', 'many')).toEqual({
    status: 2,
    stdout: '',
    stderr: '--events-per-second is a number above 0 and at most 1000000, not many\n--help lists all options.\n',
  });
});

it('tells its options', () => {
  expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--webhooks-per-event') });
});
