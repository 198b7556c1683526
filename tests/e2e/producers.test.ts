import { setTimeout as pause } from 'node:timers/promises';
import { createEventProducer, type EventProducer } from '@enterprise-api/shared/events';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { elapsedMs, lowest, queueBackends, readMetric, type ServiceProcess, until } from '@enterprise-api/testkit';
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

  it('has its events delivered without notify(), by the relay, which takes them within 2 s', async () => {
    const { organizationId, event } = await customer();
    const before = await fannedOutBy('relay');
    const emitted: string[] = [];
    /** Emits an event. @returns the time from the commit until it is fanned out */
    const waitMs = async () => {
      const { events } = await stage.db.transaction().execute((trx) => producer.emit(trx, event));
      const id = uuidOf('evt', events[0]?.id ?? '');
      emitted.push(id);
      const waiting = () => stage.db.selectFrom('outbox').select('event_id').where('event_id', '=', id).execute();
      return elapsedMs(() => until('the fan-out', waiting, { holds: (rows) => rows.length === 0 }));
    };
    // Commits spread over more than a second meet the relay, which runs once a second, at every moment of its wait.
    const longestWaitMs = async () => {
      const waits = await Promise.all(
        [0, 200, 400, 600, 800, 1_000].map((afterMs) => pause(afterMs).then(() => waitMs())),
      );
      return Math.max(...waits);
    };
    expect(await lowest(2_000, longestWaitMs)).toBeLessThanOrEqual(2_000);
    await untilDelivered(organizationId, emitted.length);
    expect(await fannedOutBy('relay')).toBe(before + emitted.length);
  });

  it('has its events delivered that it handed to the queue alone', async () => {
    const { organizationId, event } = await customer();
    const id = await producer.enqueue(event, { requestId: 'upload-2' });
    const [delivery] = await untilDelivered(organizationId, 1);
    expect(toPublicId('evt', delivery?.event_id ?? '')).toBe(id);
    expect(await requestIdOf(id)).toBe('upload-2');
  });
});
