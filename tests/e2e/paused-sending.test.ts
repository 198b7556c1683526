import { migrate } from '@enterprise-api/shared/ledger';
import { toPublicId } from '@enterprise-api/shared/runtime';
import {
  type ApiClient,
  createApiClient,
  elapsedMs,
  lowest,
  queueBackends,
  readMetric,
  type ServiceProcess,
  startFaultProxy,
  testEvent,
  throughProxy,
  until,
} from '@enterprise-api/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { openTestStage, type TestStage } from './stage.ts';

jest.setTimeout(120_000);

const promisedMs = 5_000;

// change-feed.integration.test.ts has the other way in which a worker hears of a pause.
describe.each(queueBackends().filter(({ name }) => name === 'redis'))('an operator who pauses sending', (backend) => {
  let stage: TestStage;
  let internal: ApiClient['internal'];

  beforeAll(async () => {
    stage = await openTestStage(backend);
    // For the worker whose settings name a database of its own for what listens: it then expects a pooler.
    await migrate(stage.databaseUrl, { roleTimeouts: true });
    ({ internal } = createApiClient(await stage.startApi()));
  });
  afterEach(async () => {
    await internal('POST', '/internal/v1/sending', { paused: false });
  });
  afterAll(() => stage.close());

  const set = async (paused: boolean, organizationId?: string) => {
    const whose = organizationId === undefined ? {} : { organization_id: toPublicId('org', organizationId) };
    const answer = await internal('POST', '/internal/v1/sending', { paused, ...whose });
    expect(answer.status).toBe(200);
  };
  const isPaused = async ({ url }: ServiceProcess) => (await readMetric(url, 'webhook_sending_paused')) === 1;
  const untilAll = (workers: readonly ServiceProcess[], paused: boolean) =>
    until(
      paused ? 'a pause in every worker' : 'no pause in any worker',
      async () => (await Promise.all(workers.map(isPaused))).every((known) => known === paused),
      { withinMs: 30_000 },
    );
  const stopAll = async (workers: readonly ServiceProcess[]) => {
    for (const worker of workers) await worker.stop();
  };
  const emit = (organizationId: string, count: number) =>
    stage.producer.emit(Array.from({ length: count }, () => testEvent(organizationId)));

  it('reaches every worker within 5 s, also one that gets no notifications; they fan out and send nothing', async () => {
    const gate = Promise.withResolvers<void>();
    let isHeld = true;
    const receiver = await stage.startReceiver({ respond: () => (isHeld ? gate.promise.then(() => ({})) : {}) });
    const { organizationId } = await stage.subscribe({ url: receiver.url() });
    const { hostname, port } = new URL(stage.queue.url);
    await using proxy = await startFaultProxy({ host: hostname, port: Number(port) });
    const settings = { WEBHOOK_ENDPOINT_CONCURRENCY: '1', WEBHOOK_TIMEOUT_MS: '30000' };
    // Its statements go to the database itself; notifications go through the proxy, as the queue does.
    const deaf = {
      [stage.queue.kind === 'postgres' ? 'DATABASE_DIRECT_URL' : 'REDIS_URL']: throughProxy(stage.queue.url, proxy),
    };
    const workers = [await stage.startWorker(settings), await stage.startWorker({ ...settings, ...deaf })];
    proxy.cut();
    await emit(organizationId, 6);
    await receiver.waitFor(1);

    const tookMs = await lowest(promisedMs, async (nth) => {
      if (nth > 1) {
        await set(false);
        await untilAll(workers, false);
      }
      return elapsedMs(async () => {
        await set(true);
        await untilAll(workers, true);
      });
    });
    expect(tookMs).toBeLessThan(promisedMs);
    // What was leased and had not begun is released; of one webhook, each worker has at most one attempt under way.
    const isLeased = (row: { status: string; lease_count: number }) => row.status === 'pending' && row.lease_count > 0;
    const isReleased = (rows: Parameters<typeof isLeased>[0][]) => rows.filter(isLeased).length <= workers.length;
    await stage.untilDeliveries(organizationId, (rows) => rows.length === 6 && isReleased(rows), 30_000);
    isHeld = false;
    gate.resolve();
    // What is on the wire ends, and is recorded.
    const ended = await stage.untilDeliveries(organizationId, (rows) => !rows.some(isLeased), 30_000);
    const delivered = ended.filter((row) => row.status === 'succeeded').length;
    expect(delivered).toBeGreaterThan(0);
    await emit(organizationId, 4);
    const held = await stage.untilDeliveries(organizationId, (rows) => rows.length === 10, 30_000);
    expect(held.filter((row) => row.status === 'pending').map((row) => [row.attempt_count, row.lease_count])).toEqual(
      Array.from({ length: 10 - delivered }, () => [0, 0]),
    );
    expect(receiver.requests).toHaveLength(delivered);

    await set(false);
    const sent = await stage.untilDeliveries(
      organizationId,
      (rows) => rows.every((row) => row.status === 'succeeded'),
      60_000,
    );
    expect(sent.map((row) => row.attempt_count)).toEqual(Array.from({ length: 10 }, () => 1));
    await stopAll(workers);
  });

  it('survives the death of every worker, and holds back one organization while another is served', async () => {
    const receiver = await stage.startReceiver();
    const { organizationId: paused } = await stage.subscribe({ url: receiver.url('/paused') });
    const { organizationId: other } = await stage.subscribe({ url: receiver.url('/other') });
    const first = await stage.startWorker();
    await set(true, paused);
    await until(
      'the pause of the organization',
      async () => (await readMetric(first.url, 'webhook_sending_paused_organizations')) === 1,
      { withinMs: 30_000 },
    );
    first.kill('SIGKILL');
    await first.exited;
    await emit(paused, 3);
    const worker = await stage.startWorker();
    for (let round = 1; round <= 3; round++) {
      await emit(other, 2);
      await stage.untilDeliveries(
        other,
        (rows) => rows.length === 2 * round && rows.every((row) => row.status === 'succeeded'),
        30_000,
      );
    }
    const held = await stage.untilDeliveries(paused, (rows) => rows.length === 3, 30_000);
    expect(held.map(({ status, attempt_count, lease_count }) => [status, attempt_count, lease_count])).toEqual(
      Array.from({ length: 3 }, () => ['pending', 0, 0]),
    );
    expect(receiver.requests.filter(({ path }) => path === '/paused')).toEqual([]);
    await set(false, paused);
    await stage.untilDeliveries(paused, (rows) => rows.every((row) => row.status === 'succeeded'), 30_000);
    await stopAll([worker]);
  });
});
