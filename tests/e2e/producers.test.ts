import { createEventProducer, type EventProducer } from '@enterprise-api/shared/events';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { queueBackends, readMetric, type ServiceProcess } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestStage, type TestStage, uuidOf } from './stage.ts';

describe.each(queueBackends())('an internal service, queue on $name', (backend) => {
  let stage: TestStage;
  let worker: ServiceProcess;
  let producer: EventProducer;

  beforeAll(async () => {
    stage = await openTestStage(backend);
    worker = await stage.startWorker();
    const redisUrl = stage.queue.kind === 'redis' ? stage.queue.url : undefined;
    producer = createEventProducer({ databaseUrl: stage.databaseUrl, redisUrl, onError: () => undefined });
  });
  afterAll(async () => {
    await producer.close();
    await stage.close();
  });

  const customer = async () => {
    const { organizationId } = await stage.subscribe();
    const organization_id = toPublicId('org', organizationId);
    return { organizationId, event: { organization_id, type: 'batch.failed' as const, data: { batch_id: 'b' } } };
  };
  const fannedOutBy = (by: string) => readMetric(worker.url, 'webhook_events_fanned_out_total', `by="${by}"`);
  const untilDelivered = (organizationId: string, count: number) =>
    stage.untilDeliveries(
      organizationId,
      (rows) => rows.length === count && rows.every((row) => row.status === 'succeeded'),
    );
  const requestIdOf = async (id: string) => {
    const row = stage.db.selectFrom('events').select('request_id').where('id', '=', uuidOf('evt', id));
    return (await row.executeTakeFirstOrThrow()).request_id;
  };

  it('has its events delivered that it emitted in a transaction of its own, woken by notify()', async () => {
    const { organizationId, event } = await customer();
    const trx = await stage.db.startTransaction().execute();
    const { events, notify } = await producer.emit(trx, [event, event], { requestId: 'upload-1' });
    await trx.commit().execute();
    await notify();
    const deliveries = await untilDelivered(organizationId, 2);
    const delivered = deliveries.map((row) => toPublicId('evt', row.event_id));
    expect(delivered.sort()).toEqual(events.map(({ id }) => id).sort());
    expect(await requestIdOf(events[0]?.id ?? '')).toBe('upload-1');
  });

  it('has its events delivered without notify(), by the relay', async () => {
    const { organizationId, event } = await customer();
    const before = await fannedOutBy('relay');
    await stage.db.transaction().execute((trx) => producer.emit(trx, event));
    await untilDelivered(organizationId, 1);
    expect(await fannedOutBy('relay')).toBe(before + 1);
  });

  it('has its events delivered that it handed to the queue alone', async () => {
    const { organizationId, event } = await customer();
    const id = await producer.enqueue(event, { requestId: 'upload-2' });
    const [delivery] = await untilDelivered(organizationId, 1);
    expect(toPublicId('evt', delivery?.event_id ?? '')).toBe(id);
    expect(await requestIdOf(id)).toBe('upload-2');
  });
});
