import type { EmitEventInput } from '@enterprise-api/shared/contracts';
import { createEventProducer, createQueueOnlyProducer } from '@enterprise-api/shared/events';
import { createJobProducer, openQueue } from '@enterprise-api/shared/queue';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { type ApiClient, createApiClient, queueBackends, testEvent, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestStage, type TestStage } from './stage.ts';

describe.each(queueBackends())('a closed organization, queued on $name', (backend) => {
  let stage: TestStage;
  let client: ApiClient;

  beforeAll(async () => {
    stage = await openTestStage(backend);
    client = createApiClient(await stage.startApi());
    await stage.startWorker();
  });
  afterAll(() => stage.close());

  const close = async (organizationId: string) => {
    const id = toPublicId('org', organizationId);
    const body = { confirm: id, erase_after: 3_600 };
    const { status } = await client.internal('POST', `/internal/v1/organizations/${id}/close`, body);
    expect(status).toBe(202);
  };
  const untilOutboxIsEmpty = (organizationId: string) =>
    until(
      'no event waits',
      () => stage.db.selectFrom('outbox').select('event_id').where('organization_id', '=', organizationId).execute(),
      { holds: ({ length }) => length === 0, withinMs: 30_000 },
    );

  it('gets no further attempt; its pending deliveries become canceled, and an answer that was under way counts', async () => {
    const gate = Promise.withResolvers<void>();
    const receiver = await stage.startReceiver({
      respond: async ({ order }) => {
        if (order < 2) await gate.promise;
        return { status: order === 0 ? 200 : 500 };
      },
    });
    const { organizationId } = await stage.subscribe({ url: receiver.url() });
    await stage.producer.emit(Array.from({ length: 2 }, () => testEvent(organizationId)));
    await receiver.waitFor(2);
    await close(organizationId);
    gate.resolve();
    await stage.untilDeliveries(organizationId, (rows) => {
      const statuses = rows.map(({ status }) => status).sort();
      return statuses.join() === 'canceled,succeeded';
    });
    const path = `/internal/v1/organizations/${toPublicId('org', organizationId)}/deliveries?status=canceled`;
    expect((await client.internal('GET', path)).body.data).toMatchObject([{ canceled_reason: 'organization_closed' }]);
    // An event of a producer that does not ask whether the organization exists.
    await stage.producer.emit([testEvent(organizationId)]);
    await untilOutboxIsEmpty(organizationId);
    const rows = await stage.deliveries(organizationId);
    expect([rows.length, receiver.requests.length]).toEqual([2, 2]);
  });

  it('is unknown to a producer with a transaction of its own, and an event that commits later is dropped', async () => {
    const { organizationId } = await stage.subscribe();
    const producer = createEventProducer({ ...urlsOf(stage), onError: () => undefined });
    const late = await stage.db.startTransaction().execute();
    const event = eventOf(organizationId);
    await producer.emit(late, event);
    await close(organizationId);
    const emitting = producer.transaction(stage.db, (_trx, emit) => emit(event));
    await expect(emitting).rejects.toThrow(toPublicId('org', organizationId));
    await late.commit().execute();
    await untilOutboxIsEmpty(organizationId);
    expect(await stage.deliveries(organizationId)).toEqual([]);
    await producer.close();
  });

  it('has no body left in a job with a whole event', async () => {
    const { organizationId } = await stage.subscribe();
    await close(organizationId);
    const jobs = createJobProducer(stage.queue, 'writeEvent', () => undefined);
    const { queue, close: closeQueue } = openQueue(stage.queue, 'event-writes', () => undefined);
    await createQueueOnlyProducer(jobs).emit({ ...eventOf(organizationId), id: 'canary' });
    const [job] = await until('a failed job', () => queue.getFailed(), { holds: ({ length }) => length === 1 });
    expect(job?.failedReason).toContain(`closed organization ${toPublicId('org', organizationId)}`);
    expect(JSON.stringify(job?.data)).not.toContain('canary');
    await Promise.all([jobs.close(), closeQueue()]);
  });
});

const eventOf = (organizationId: string): EmitEventInput => ({
  organization_id: toPublicId('org', organizationId),
  type: 'batch.failed',
  data: { batch_id: 'canary' },
});

function urlsOf({ queue, databaseUrl }: TestStage) {
  return queue.kind === 'redis' ? { redisUrl: queue.url } : { databaseUrl };
}
