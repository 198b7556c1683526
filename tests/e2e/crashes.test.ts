import { insertEvents, type QueueBackendUnderTest, queueBackends, testEvent } from '@enterprise-api/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openTestStage, type TestStage } from './stage.ts';

/** Leases that run out quickly, so that a test does not wait 45 s for the deliveries of a dead worker. */
const quickLeases = { WORKER_LEASE_MARGIN: '2s', WORKER_START_WITHIN: '1s', WEBHOOK_TIMEOUT_MS: '1000' };

let stage: TestStage;

function onStage(backend: QueueBackendUnderTest): void {
  beforeAll(async () => {
    stage = await openTestStage(backend);
  });
  afterEach(() => stage.stopServices());
  afterAll(() => stage.close());
}

const emit = (organizationId: string, count: number) =>
  stage.producer.emit(Array.from({ length: count }, () => testEvent(organizationId)));
const allSucceeded = (count: number) => (rows: { status: string }[]) =>
  rows.length === count && rows.every((row) => row.status === 'succeeded');

describe.each(queueBackends())('workers that end and start, queued on $name', (backend) => {
  onStage(backend);

  it('deliver everything after a kill -9 between the events and their delivery', async () => {
    const receiver = await stage.startReceiver({ respond: () => 'hang' });
    const { organizationId } = await stage.subscribe({ url: receiver.url() });
    const worker = await stage.startWorker(quickLeases);
    await emit(organizationId, 200);
    await receiver.waitFor(1);
    worker.kill('SIGKILL');
    await worker.exited;
    receiver.respond(() => ({}));
    await stage.startWorker(quickLeases);
    await stage.untilDeliveries(organizationId, allSucceeded(200), 60_000);
    const ids = new Set(receiver.requests.map((request) => request.headers['x-service-delivery-id']));
    expect(ids.size).toBe(200);
    const { rows } = await sql`
      select (select count(*) from all_attempts a join deliveries d on d.id = a.delivery_id
          where d.organization_id = ${organizationId})::int as recorded,
        (select sum(n) from (
          select cardinality(durations) - cardinality(left_out) as n from uncounted_attempts
          union all select attempts from webhook_counts cross join lateral unnest(buckets, counts) as b (bucket, attempts)
            where bucket < 64 and level = 'day' and webhook_id in (select id from webhooks)) c)::int as counted`.execute(
      stage.db,
    );
    expect(rows).toEqual([{ recorded: expect.any(Number), counted: (rows[0] as { recorded: number }).recorded }]);
  });

  it('fan out events whose job was lost', async () => {
    const { organizationId } = await stage.subscribe();
    await stage.startWorker();
    await insertEvents(stage.db, [testEvent(organizationId)]);
    await stage.untilDeliveries(organizationId, allSucceeded(1));
  });
});

// Leases are rows of the ledger: the queue has no part in them.
describe.each(queueBackends().filter(({ name }) => name === 'redis'))('workers that end and start', (backend) => {
  onStage(backend);

  it('release unstarted leases at SIGTERM, finish running attempts, and send nothing twice', async () => {
    const gate = Promise.withResolvers<void>();
    const receiver = await stage.startReceiver({
      respond: async () => {
        await gate.promise;
        return {};
      },
    });
    const { organizationId } = await stage.subscribe({ url: receiver.url() });
    const settings = { WEBHOOK_TIMEOUT_MS: '10000', WEBHOOK_ENDPOINT_CONCURRENCY: '3' };
    const worker = await stage.startWorker(settings);
    await emit(organizationId, 12);
    await receiver.waitFor(3);
    worker.kill('SIGTERM');
    // The released deliveries are due now: another worker sends them while the first still finishes.
    await stage.untilDeliveries(
      organizationId,
      (rows) => rows.filter((row) => row.lease_count === 0 && Number(row.next_attempt_at) <= Date.now()).length === 9,
    );
    gate.resolve();
    expect(await worker.exited).toMatchObject({ code: 0 });
    await stage.startWorker(settings);
    await stage.untilDeliveries(organizationId, allSucceeded(12));
    expect(receiver.requests).toHaveLength(12);
  });

  it('send nothing stale after SIGSTOP and SIGCONT, and never overwrite a result of another worker', async () => {
    const receiver = await stage.startReceiver();
    const { organizationId } = await stage.subscribe({ url: receiver.url() });
    const suspended = await stage.startWorker({ ...quickLeases, WEBHOOK_ENDPOINT_CONCURRENCY: '2' });
    receiver.respond(() => 'hang');
    await emit(organizationId, 30);
    await receiver.waitFor(2);
    suspended.kill('SIGSTOP');
    receiver.respond(() => ({}));
    await stage.startWorker(quickLeases);
    await stage.untilDeliveries(organizationId, allSucceeded(30), 60_000);
    const sent = receiver.requests.length;
    suspended.kill('SIGCONT');
    expect((await suspended.stop()).code).toBe(0);
    expect(receiver.requests).toHaveLength(sent);
    expect((await stage.deliveries(organizationId)).every((row) => row.status === 'succeeded')).toBe(true);
  });

  it('share a backlog of three hundred events for one webhook, each sent once', async () => {
    const receiver = await stage.startReceiver();
    const { organizationId } = await stage.subscribe({ url: receiver.url() });
    await emit(organizationId, 300);
    // On a busy machine an attempt must not run out of time: it would be made twice.
    const patient = { WEBHOOK_TIMEOUT_MS: '20000' };
    await Promise.all([stage.startWorker(patient), stage.startWorker(patient)]);
    await stage.untilDeliveries(organizationId, allSucceeded(300), 60_000);
    expect(receiver.requests).toHaveLength(300);
    expect(new Set(receiver.requests.map((request) => request.headers['x-service-delivery-id'])).size).toBe(300);
  });
});
