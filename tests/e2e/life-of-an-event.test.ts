import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApiCustomer, queueBackends, type ServiceProcess, testEvent, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestStage, type TestStage, uuidOf } from './stage.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
const section = page.slice(page.indexOf('## Life of an event'), page.indexOf('**Again.**'));
const listed = [...section.matchAll(/^\d+\. (?:API )?`([^`]+)`/gm)].map(([, path]) => path as string);
const named = [...section.matchAll(/`([\w./{},-]+)`/g)].flatMap(([, path]) => expandBraces(path as string));
/** Left out of the list by what they are: catalogues, helpers of every part, metrics. */
const leftOut = /^packages\/shared\/src\/(?:contracts|runtime|security)\/|\/metrics\.ts$/;
/** What may run beside an event: loops, new connections of the caller. */
const beside =
  /\/(?:dispatch|maintenance|pauses|probes)\/|\/usage\/(?!counters)|\/event-stream\/(?!event-notifier)|\/ledger\/(?:loose-index-scan|ledger-figures)\.ts$|\/(?:connection-limit|client-address)\.ts$/;

function expandBraces(path: string): string[] {
  const [, before = path, names = '', after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? [];
  return names.split(',').map((name) => before + name + after);
}

describe.each(queueBackends())('the life of an event, queued on $name', (backend) => {
  let stage: TestStage;
  let folder: string;

  beforeAll(async () => {
    stage = await openTestStage(backend);
    folder = mkdtempSync(join(tmpdir(), 'ran-files-'));
  });
  afterAll(async () => {
    await stage.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A service that can tell which files' functions have run. */
  async function start(name: 'startApi' | 'startWorker') {
    const file = join(folder, `${name}.json`);
    const recorder = fileURLToPath(new URL('record-functions.ts', import.meta.url));
    const settings = { LOG_LEVEL: 'info', NODE_OPTIONS: `--import=${recorder}`, RAN_FILES: file };
    const service: ServiceProcess = await stage[name](settings);
    const ranFiles = async (): Promise<string[]> => {
      rmSync(file, { force: true });
      service.kill('SIGUSR2');
      await until('the list of files', () => existsSync(file), { holds: Boolean });
      const urls: string[] = JSON.parse(readFileSync(file, 'utf8'));
      return urls.flatMap((url) => /\/((?:services|packages)\/.*\.ts)$/.exec(url)?.[1] ?? []);
    };
    return { service, ranFiles };
  }

  it('is told by docs/architecture.md: the files in the list run, they are at most 25, and no other file runs unnamed', async () => {
    const api = await start('startApi');
    const worker = await start('startWorker');
    const customer = await createApiCustomer(api.service);
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
    const runs: Set<string>[] = [];
    for (const count of [4, 5, 6, 7]) {
      await Promise.all([api.ranFiles(), worker.ranFiles()]);
      await deliver(count);
      runs.push(new Set((await Promise.all([api.ranFiles(), worker.ranFiles()])).flat()));
    }
    const ran = [...new Set(runs.flatMap((run) => [...run]))];
    expect(listed.filter((path) => !ran.some((file) => file.endsWith(`/src/${path}`)))).toEqual([]);
    expect(listed.length).toBeLessThanOrEqual(25);
    const always = ran.filter(
      (file) => runs.every((run) => run.has(file)) && !leftOut.test(file) && !beside.test(file),
    );
    expect(always.filter((file) => !named.some((path) => file.endsWith(`/src/${path}`)))).toEqual([]);
  });
});
