import { listQueueJobsQuerySchema } from '@enterprise-api/shared/contracts';
import { createJobProducer, openQueue, queueNames, selectQueueBackend } from '@enterprise-api/shared/queue';
import { newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { queueBackends } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

const path = '/internal/v1/queue-jobs';

describe.each(queueBackends())('GET /internal/v1/queue-jobs, queued on $name', (backend) => {
  let api: TestApi;
  let redisUrl: string | undefined;
  let closeStore: () => Promise<void>;

  beforeAll(async () => {
    ({ redisUrl, close: closeStore } = await backend.start());
    api = await startTestApi(redisUrl === undefined ? {} : { environment: { REDIS_URL: redisUrl } });
  });
  afterAll(async () => {
    await api.stop();
    await closeStore();
  });

  it('200 with the newest jobs of a queue in a state, by the events that they name', async () => {
    const producer = createJobProducer(
      selectQueueBackend({ redisUrl, databaseUrl: api.database.url }),
      'fanOut',
      () => undefined,
    );
    const ids = [newUuid(), newUuid()];
    await producer.add({ version: 1, event_ids: ids.slice(0, 1) });
    await producer.add({ version: 1, event_ids: ids.slice(1) });
    await producer.close();
    const { body } = await api.internal('get', `${path}?queue=events&state=waiting`).expect(200);
    expect(body).toMatchObject({ object: 'queue_jobs', queue: 'events', state: 'waiting' });
    expect(body.jobs.flatMap((job: { event_ids: string[] }) => job.event_ids).sort()).toEqual(
      ids.map((id) => toPublicId('evt', id)).sort(),
    );
    expect(body.queues.map((each: { name: string }) => each.name)).toEqual(queueNames);
    expect(body.queues[0]).toMatchObject({ name: 'events', is_paused: false, waiting: 2, failed: 0 });
    expect(body.jobs[0]).toMatchObject({ name: 'fan-out', attempts: 0, failed_reason: null });
    const failed = await api.internal('get', `${path}?queue=event-writes&state=failed`).expect(200);
    expect(failed.body.jobs).toEqual([]);
  });

  it('200 also when another program has put its own jobs into the queue: what is no event id or time is left out', async () => {
    const backendOfApi = selectQueueBackend({ redisUrl, databaseUrl: api.database.url });
    const { queue, close } = openQueue(backendOfApi, 'event-writes', () => undefined);
    const id = newUuid();
    await queue.add('foreign', { event_ids: ['not an id', id, id.toUpperCase(), 7] }, { timestamp: 9e15 });
    await queue.add('foreign', { event_id: { of: 'another program' } });
    await close();
    const { body } = await api.internal('get', `${path}?queue=event-writes&state=waiting`).expect(200);
    expect(body.jobs).toMatchObject([
      { name: 'foreign', event_ids: [] },
      { name: 'foreign', event_ids: [toPublicId('evt', id)], added_at: '1970-01-01T00:00:00.000Z' },
    ]);
  });

  it('400 for a queue or a state that there is not', async () => {
    await api.internal('get', `${path}?queue=others&state=waiting`).expect(400);
    await api.internal('get', `${path}?queue=events&state=completed`).expect(400);
  });
});

it('404 while the board is closed', async () => {
  const api = await startTestApi({ environment: { INTERNAL_QUEUE_BOARD: 'false' } });
  const answer = await api.internal('get', `${path}?queue=events&state=failed`).expect(404);
  expect(answer.body.error.message).toContain('INTERNAL_QUEUE_BOARD');
  await api.stop();
});

it('every queue of the catalogue can be asked for', () => {
  expect(listQueueJobsQuerySchema.shape.queue.unwrap().options).toEqual(queueNames);
});
