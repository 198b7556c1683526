import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createApiCustomer, queueBackends, type ServiceProcess, testEvent, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestStage, type TestStage, uuidOf } from './stage.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
const [section = ''] = page.slice(page.indexOf('## Life of an event')).split('**Again.**');

/** The files in the list, without those that run with the other queue only. */
function listedFiles(otherQueue: string): string[] {
  const lines = [...section.matchAll(/^- `([^`]+)`(.*)$/gm)];
  return lines.filter(([, , rest]) => !rest?.includes(`(${otherQueue} queue only)`)).map(([, path = '']) => path);
}

describe.each(queueBackends())('the life of an event, queued on $name', (backend) => {
  let stage: TestStage;
  let folder: string;

  beforeAll(async () => {
    stage = await openTestStage(backend);
    folder = mkdtempSync(join(tmpdir(), 'ran-functions-'));
  });
  afterAll(async () => {
    await stage.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A service that can tell which functions of the product have run since it was asked last. */
  async function start(name: 'startApi' | 'startWorker') {
    const file = join(folder, `${name}.json`);
    const recorder = fileURLToPath(new URL('record-functions.ts', import.meta.url));
    // Functions that come from Node's compile cache would not all be counted.
    const exact = { NODE_OPTIONS: `--import=${recorder}`, NODE_DISABLE_COMPILE_CACHE: '1' };
    const settings = { LOG_LEVEL: 'info', RAN_FUNCTIONS: file, ...exact };
    const service: ServiceProcess = await stage[name](settings);
    const ranFunctions = async (): Promise<string[]> => {
      rmSync(file, { force: true });
      service.kill('SIGUSR2');
      await until('the list of functions', () => existsSync(file), { holds: Boolean });
      const functions: string[] = JSON.parse(readFileSync(file, 'utf8'));
      const product = /\/((?:services\/[\w-]+|packages\/shared)\/src\/.*)$/;
      return functions.flatMap((each) => product.exec(each)?.[1] ?? []);
    };
    return { service, ranFunctions };
  }

  it('is told by docs/architecture.md, which lists every file of a function that an event runs', async () => {
    const services = [await start('startApi'), await start('startWorker')] as const;
    const ranSinceLast = async () => (await Promise.all(services.map((each) => each.ranFunctions()))).flat();
    const customer = await createApiCustomer(services[0].service);
    const organizationId = uuidOf('org', customer.organizationId);
    await stage.subscribe({ organizationId });
    const { type, data } = testEvent(organizationId);
    const deliver = async (count: number) => {
      await customer.internal('POST', '/internal/v1/events', { organization_id: customer.organizationId, type, data });
      const isDone = (rows: { status: string }[]) =>
        rows.filter(({ status }) => status === 'succeeded').length === count;
      await stage.untilDeliveries(organizationId, isDone);
    };
    // The first events open connections, fill caches and prepare statements.
    for (const count of [1, 2, 3]) await deliver(count);
    await ranSinceLast();
    // The control run: loops and timers, without an event. Their longest period is some seconds.
    await pause(controlMs);
    const control = new Set(await ranSinceLast());
    const runs: Set<string>[] = [];
    for (const count of [4, 5, 6, 7]) {
      await ranSinceLast();
      await deliver(count);
      runs.push(new Set(await ranSinceLast()));
    }
    const [first, ...others] = runs;
    const always = [...(first ?? [])].filter((each) => !control.has(each) && others.every((run) => run.has(each)));
    const files = [...new Set(always.map(fileOf))].sort();
    if (process.env.LIFE_OF_AN_EVENT) process.stdout.write(describeFiles(files, always.length));
    const listed = listedFiles(backend.name === 'redis' ? 'PostgreSQL' : 'Redis');
    expect(files.filter((file) => !listed.includes(file))).toEqual([]);
    const ran = new Set(runs.flatMap((run) => [...run].map(fileOf)));
    expect(listed.filter((file) => !ran.has(file))).toEqual([]);
  });
});

const controlMs = 6_000;

const fileOf = (ranFunction: string) => ranFunction.split(' ')[0] ?? '';

function describeFiles(files: readonly string[], functions: number): string {
  const lines = files.map((file) => readFileSync(join(root, file), 'utf8').split('\n').length - 1);
  const total = lines.reduce((sum, count) => sum + count, 0);
  const list = files.map((file, at) => `${String(lines[at]).padStart(5)} ${file}\n`).join('');
  return `${list}${files.length} files, ${total} lines, ${functions} functions\n`;
}
