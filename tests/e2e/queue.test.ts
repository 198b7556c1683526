import { createQueueOnlyProducer, QueueFullError } from '@enterprise-api/shared/events';
import { createJobProducer, jobs, openQueue } from '@enterprise-api/shared/queue';
import { newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import {
  insertEvents,
  queueBackends,
  readMetric,
  type ServiceProcess,
  testEvent,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestStage, type TestStage } from './stage.ts';

describe.each(queueBackends())('jobs on $name', (backend) => {
  let stage: TestStage;
  let worker: ServiceProcess;

  beforeAll(async () => {
    stage = await openTestStage(backend);
    worker = await stage.startWorker();
  });
  afterAll(() => stage.close());

  const open = (name: string) => openQueue(stage.queue, name, () => undefined);
  const failedJobs = (labels?: string) => readMetric(worker.url, 'webhook_jobs_failed_total', labels);

  it('carry whole events from producers that reach only the queue', async () => {
    const { organizationId } = await stage.subscribe();
    const jobProducer = createJobProducer(stage.queue, 'writeEvent', () => undefined);
    const producer = createQueueOnlyProducer(jobProducer);
    const event = {
      organization_id: toPublicId('org', organizationId),
      type: 'batch.failed' as const,
      data: { batch_id: 'b' },
      id: 'k',
    };
    const ids = [await producer.emit(event), await producer.emit(event)];
    const rows = await stage.untilDeliveries(organizationId, (found) => found[0]?.status === 'succeeded');
    // Both jobs have the same caller's id: the one that is handled first becomes the event.
    expect(rows).toHaveLength(1);
    expect(ids).toContain(toPublicId('evt', rows[0]?.event_id ?? ''));

    await expect(producer.emit({ ...event, data: { batch_id: 'b', pad: 'x'.repeat(17_000) } })).rejects.toThrow(
      '16384',
    );
    const full = createQueueOnlyProducer({ add: jobProducer.add, waitingCount: () => Promise.resolve(1_000) });
    await expect(full.emit(event)).rejects.toThrow(QueueFullError);
    await jobProducer.close();
  });

  it('that are malformed or of an unknown version are kept as failed with the reason, and counted', async () => {
    const { queue, close } = open('events');
    const { organizationId } = await stage.subscribe();
    const [event] = await insertEvents(stage.db, [testEvent(organizationId)]);
    const failedBefore = await failedJobs();
    await queue.add(jobs.fanOut.name, { version: 2, event_ids: [event?.id] });
    await queue.add(jobs.fanOut.name, { version: 1, event_ids: 'none' });
    await queue.add('something else', null);
    const failed = await until('3 failed jobs', () => queue.getFailed(), { holds: ({ length }) => length === 3 });
    expect(failed.map((job) => job.failedReason).join()).toContain('version 2');
    expect(await failedJobs()).toBe(failedBefore + 3);
    // The relay fans out the event that the job of the unknown version named.
    await stage.untilDeliveries(organizationId, (rows) => rows[0]?.status === 'succeeded');
    await close();
  });

  it('for an organization that does not exist are kept as failed, logged and counted', async () => {
    const { queue, close } = open('event-writes');
    const jobProducer = createJobProducer(stage.queue, 'writeEvent', () => undefined);
    const failedBefore = await failedJobs('queue="event-writes"');
    const organization_id = toPublicId('org', newUuid());
    const event = { organization_id, type: 'batch.failed' as const, data: { batch_id: 'b' } };
    const id = await createQueueOnlyProducer(jobProducer).emit(event);
    const [job] = await until('a failed job', () => queue.getFailed(), { holds: (found) => found.length === 1 });
    const reason = `unknown organization ${organization_id} of event ${id}`;
    expect(job?.failedReason).toBe(reason);
    const isLogged = () => worker.logs().some((line) => line.msg === 'job failed' && line.reason === reason);
    await until('the log line', isLogged);
    expect(await failedJobs('queue="event-writes"')).toBe(failedBefore + 1);
    await Promise.all([jobProducer.close(), close()]);
  });
});
