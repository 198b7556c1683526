import { queueBackends, startFaultProxy, startRedis, testEvent, throughProxy } from '@enterprise-api/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestStage, type TestStage } from './stage.ts';

describe.each(queueBackends().filter(({ name }) => name === 'redis'))('a stop, queued on $name', (backend) => {
  let stage: TestStage;

  beforeAll(async () => {
    stage = await openTestStage(backend);
  });
  afterAll(() => stage.close());

  it('starts nothing more and ends cleanly while the queue is frozen', async () => {
    const redis = await startRedis();
    const gate = Promise.withResolvers<void>();
    const receiver = await stage.startReceiver({ respond: () => gate.promise.then(() => ({})) });
    const { organizationId } = await stage.subscribe({ url: receiver.url() });
    const worker = await stage.startWorker({
      REDIS_URL: redis.url,
      WEBHOOK_TIMEOUT_MS: '20000',
      WEBHOOK_ENDPOINT_CONCURRENCY: '1',
    });
    await stage.producer.emit(Array.from({ length: 5 }, () => testEvent(organizationId)));
    await receiver.waitFor(1);
    redis.freeze();
    worker.kill('SIGTERM');
    await stage.untilDeliveries(organizationId, (rows) => rows.filter((row) => row.lease_count === 0).length === 4);
    // What waits is released before the stop waits for the attempt that runs.
    gate.resolve();
    expect(await worker.exited).toMatchObject({ code: 0 });
    expect(receiver.requests).toHaveLength(1);
    redis.thaw();
    await redis.close();
  });
});

describe.each(queueBackends())('a stop while the database is away, queued on $name', (backend) => {
  let stage: TestStage;

  beforeAll(async () => {
    stage = await openTestStage(backend);
  });
  afterEach(() => stage.stopServices());
  afterAll(() => stage.close());

  it.each(['cut', 'freeze'] as const)(
    '(%s) ends with 0 all the same, and the delivery goes out again',
    async (fault) => {
      const gate = Promise.withResolvers<void>();
      const receiver = await stage.startReceiver({ respond: () => gate.promise.then(() => ({})) });
      const { organizationId } = await stage.subscribe({ url: receiver.url() });
      const { hostname, port } = new URL(stage.databaseUrl);
      await using proxy = await startFaultProxy({ host: hostname, port: Number(port) });
      const settings = { WEBHOOK_TIMEOUT_MS: '3000', WORKER_LEASE_MARGIN: '2s', WORKER_START_WITHIN: '1s' };
      const worker = await stage.startWorker({ ...settings, DATABASE_URL: throughProxy(stage.databaseUrl, proxy) });
      await stage.producer.emit([testEvent(organizationId)]);
      await receiver.waitFor(1);
      proxy[fault]();
      gate.resolve();
      worker.kill('SIGTERM');
      expect(await worker.exited).toMatchObject({ code: 0 });
      await stage.startWorker(settings);
      await stage.untilDeliveries(organizationId, (rows) => rows[0]?.status === 'succeeded');
    },
  );

  it('records the outcomes of its attempts when the database comes back within the time of the stop', async () => {
    const gate = Promise.withResolvers<void>();
    const receiver = await stage.startReceiver({ respond: () => gate.promise.then(() => ({})) });
    const { organizationId } = await stage.subscribe({ url: receiver.url() });
    const { hostname, port } = new URL(stage.databaseUrl);
    await using proxy = await startFaultProxy({ host: hostname, port: Number(port) });
    const worker = await stage.startWorker({ DATABASE_URL: throughProxy(stage.databaseUrl, proxy) });
    await stage.producer.emit([testEvent(organizationId)]);
    await receiver.waitFor(1);
    proxy.cut();
    gate.resolve();
    worker.kill('SIGTERM');
    const outageMs = 3_000;
    setTimeout(() => proxy.restore(), outageMs);
    expect(await worker.exited).toMatchObject({ code: 0 });
    const [row] = await stage.deliveries(organizationId);
    expect(row).toMatchObject({ status: 'succeeded', attempt_count: 1 });
    expect(receiver.requests).toHaveLength(1);
  });
});
