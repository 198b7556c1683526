import {
  type ApiCustomer,
  createApiCustomer,
  elapsedMs,
  lowest,
  queueBackends,
  type ServiceProcess,
  startFaultProxy,
  testEvent,
  throughProxy,
  until,
} from '@enterprise-api/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sql } from 'kysely';
import { openTestStage, type TestStage, uuidOf } from './stage.ts';

jest.setTimeout(180_000);

describe.each(queueBackends())('a webhook that its customer controls, queued on $name', (backend) => {
  let stage: TestStage;
  let api: ServiceProcess;
  let customer: ApiCustomer;
  let workers: ServiceProcess[] = [];

  beforeAll(async () => {
    stage = await openTestStage(backend);
    api = await stage.startApi();
  });
  afterEach(async () => {
    for (const worker of workers) await worker.stop();
    workers = [];
  });
  afterAll(() => stage.close());

  const startWorker = async (settings: Record<string, string> = {}) => {
    const worker = await stage.startWorker(settings);
    workers.push(worker);
    return worker;
  };
  const organization = () => uuidOf('org', customer.organizationId);
  const deliveries = () => stage.deliveries(organization());
  const untilDeliveries = (condition: Parameters<TestStage['untilDeliveries']>[1], withinMs = 30_000) =>
    stage.untilDeliveries(organization(), condition, withinMs);
  const emit = (count: number) =>
    customer.emit(Array.from({ length: count }, () => testEvent(customer.organizationId, { type: 'batch.failed' })));
  const act = async (id: string, what: string, body: object = {}) => {
    const answer = await customer.call('POST', `/v1/webhooks/${id}/${what}`, body);
    expect(answer.status).toBeLessThan(300);
    return answer.body;
  };
  const isLeased = (row: { status: string; lease_count: number }) => row.status === 'pending' && row.lease_count > 0;
  const allSucceeded = (count: number) => (rows: { status: string }[]) =>
    rows.length === count && rows.every((row) => row.status === 'succeeded');

  it('gets nothing but tests while it is paused; what a worker has leased is released within a second', async () => {
    const gate = Promise.withResolvers<void>();
    const receiver = await stage.startReceiver({ respond: () => gate.promise.then(() => ({})) });
    customer = await createApiCustomer(api);
    const { id } = await customer.createWebhook(receiver.url());
    await startWorker({ WEBHOOK_ENDPOINT_CONCURRENCY: '1', WEBHOOK_TIMEOUT_MS: '30000' });
    await emit(6);
    await receiver.waitFor(1);
    const leased = (count: number) =>
      untilDeliveries((rows) => rows.length === 6 && rows.filter(isLeased).length === count, 30_000);
    const tookMs = await lowest(1_000, async (nth) => {
      if (nth > 1) {
        await act(id, 'resume');
        await until('leases', async () => (await deliveries()).filter(isLeased).length > 1);
      }
      return elapsedMs(async () => {
        await act(id, 'pause');
        await leased(1);
      });
    });
    expect(tookMs).toBeLessThan(1_000);

    await emit(4);
    await act(id, 'test');
    gate.resolve();
    await receiver.waitFor(2);
    const held = await untilDeliveries((rows) => rows.length === 11 && !rows.some(isLeased), 30_000);
    const pending = held.filter((row) => row.status === 'pending');
    expect(pending.map((row) => [row.attempt_count, row.lease_count])).toEqual(Array.from({ length: 9 }, () => [0, 0]));
    expect(receiver.requests.filter(({ headers }) => headers['x-service-test'] === undefined)).toHaveLength(1);
    const shown = await customer.deliveries('&status=pending');
    expect(new Set(shown.map((row) => row.waiting_for))).toEqual(new Set(['paused']));

    await act(id, 'resume', { rate_per_second: 100 });
    const sent = await untilDeliveries(allSucceeded(11), 60_000);
    expect(sent.map((row) => row.attempt_count)).toEqual(Array.from({ length: 11 }, () => 1));
  });

  it('is sent to again when the pause ends by itself', async () => {
    const receiver = await stage.startReceiver();
    customer = await createApiCustomer(api);
    const { id } = await customer.createWebhook(receiver.url());
    await startWorker();
    const { paused } = await act(id, 'pause', { resume_at: new Date(Date.now() + 3_000).toISOString() });
    await emit(3);
    const rows = await untilDeliveries(allSucceeded(3), 60_000);
    for (const row of rows) expect(Number(row.completed_at)).toBeGreaterThanOrEqual(Date.parse(paused.resume_at));
  });

  it('is held by 429 with Retry-After, and then gets one delivery first', async () => {
    const started: number[] = [];
    const receiver = await stage.startReceiver({
      respond: () => {
        started.push(Date.now());
        return started.length === 1 ? { status: 429, headers: { 'Retry-After': '3' } } : {};
      },
    });
    customer = await createApiCustomer(api);
    await customer.createWebhook(receiver.url());
    await startWorker();
    await emit(1);
    await receiver.waitFor(1);
    await until(
      'the hold',
      async () => (await sql`select from webhook_controls where held_until > now()`.execute(stage.db)).rows.length > 0,
    );
    await emit(5);
    const waiting = await until('the deliveries', () => customer.deliveries('&status=pending'), {
      holds: (rows) => rows.length === 6,
    });
    expect(new Set(waiting.map((row) => row.waiting_for))).toEqual(new Set(['receiver']));
    const rows = await untilDeliveries(allSucceeded(6), 60_000);
    expect(rows.map((row) => row.attempt_count)).toEqual([2, 1, 1, 1, 1, 1]);
    expect((started[1] ?? 0) - (started[0] ?? 0)).toBeGreaterThan(2_000);
  });

  it('keeps its limits with four workers, of which one is killed, and without the queue', async () => {
    const rate = 20;
    let [inFlight, most] = [0, 0];
    const receiver = await stage.startReceiver({
      respond: async () => {
        inFlight += 1;
        most = Math.max(most, inFlight);
        await new Promise((resolve) => setTimeout(resolve, 50));
        inFlight -= 1;
        return {};
      },
    });
    customer = await createApiCustomer(api);
    await customer.createWebhook(receiver.url(), { rate_limit_per_second: rate, max_in_flight: 4 });
    const { hostname, port } = new URL(stage.queue.url);
    await using proxy = await startFaultProxy({ host: hostname, port: Number(port) });
    const settings = stage.queue.kind === 'redis' ? { REDIS_URL: throughProxy(stage.queue.url, proxy) } : {};
    const [first] = [
      await startWorker(settings),
      await startWorker(settings),
      await startWorker(settings),
      await startWorker(settings),
    ];
    await emit(260);
    await receiver.waitFor(40);
    first?.kill('SIGKILL');
    await first?.exited;
    workers = workers.filter((worker) => worker !== first);
    if (stage.queue.kind === 'redis') proxy.cut();
    const sent = (rows: { status: string }[]) => rows.filter((row) => row.status === 'succeeded').length;
    // The killed worker's deliveries wait for the end of their leases.
    await untilDeliveries((rows) => sent(rows) >= 256, 120_000);
    expect(most).toBeLessThanOrEqual(4);
    const { rows } = await sql<{ most: number }>`
      with started as (
        select a.started_at from all_attempts a join deliveries d on d.id = a.delivery_id
        where d.id = any (${(await deliveries()).map(({ id }) => id)}::uuid[]))
      select max(count)::int as most from (
        select count(*) over (order by started_at range between current row and interval '10 s' following) from started) c`.execute(
      stage.db,
    );
    expect(rows[0]?.most).toBeLessThanOrEqual(1.1 * rate * 10);
    expect(rows[0]?.most).toBeGreaterThan(rate);
  });
});
