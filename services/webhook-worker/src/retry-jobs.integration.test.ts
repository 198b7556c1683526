import { type JobInput, jobs, openQueue, type QueueBackend, selectQueueBackend } from '@enterprise-api/shared/queue';
import { createLogger, newUuid, systemClock, toPublicId } from '@enterprise-api/shared/runtime';
import {
  createTestDatabase,
  projectFolder,
  queueBackends,
  spawnGuarded,
  type TestDatabase,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UnprocessableJobError } from './fan-out/write-event.ts';
import { createWorkerMetrics } from './metrics.ts';
import { startConsumer } from './queue-workers.ts';

/** The command. */
async function retryJobs(settings: Record<string, string>) {
  const main = 'services/webhook-worker/src/retry-jobs-main.ts';
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, ...settings };
  const command = await spawnGuarded(process.execPath, [main], { cwd: projectFolder, env });
  const { code } = await command.exited;
  return { code, text: command.lines.join('\n') };
}

describe.each(queueBackends())('failed jobs with whole events, on $name', ({ start }) => {
  let database: TestDatabase;
  let backend: QueueBackend;
  let settings: Record<string, string>;
  let closeStore: () => Promise<void>;
  beforeAll(async () => {
    const store = await start();
    closeStore = store.close;
    database = await createTestDatabase();
    backend = selectQueueBackend({ redisUrl: store.redisUrl, databaseUrl: database.url });
    settings = { DATABASE_URL: database.url, ...(store.redisUrl !== undefined && { REDIS_URL: store.redisUrl }) };
  });
  afterAll(async () => {
    await database[Symbol.asyncDispose]();
    await closeStore();
  });

  it('are all kept, whatever their producer asked for, until the command lets a worker write them', async () => {
    const written = new Set<string>();
    let canWrite = false;
    const consumer = startConsumer('writeEvent', {
      backend,
      handlers: {
        fanOut: async () => undefined,
        writeEvent: async ({ event_id }) => {
          if (!canWrite) throw new UnprocessableJobError('unknown organization');
          written.add(event_id);
        },
      },
      log: createLogger('test', 'silent'),
      clock: systemClock,
      metrics: createWorkerMetrics(undefined),
      onError: () => undefined,
    });
    const name = jobs.writeEvent.queue;
    const { queue, close } = openQueue(backend, name, () => undefined);
    try {
      const ids = [newUuid(), newUuid(), newUuid()];
      const event = {
        organization_id: toPublicId('org', newUuid()),
        type: 'batch.failed',
        data: { batch_id: 'bat_1' },
      } as const;
      for (const event_id of ids) {
        const data: JobInput<'writeEvent'> = { version: 1, event_id, event };
        await queue.add(jobs.writeEvent.name, data);
      }
      await until('all have failed', async () => (await queue.getJobCounts('failed')).failed === ids.length);

      canWrite = true;
      const place = backend.kind === 'redis' ? 'Redis' : 'PostgreSQL (no REDIS_URL)';
      expect(await retryJobs(settings)).toEqual({
        code: 0,
        text: `event-writes in ${place}: 3 failed jobs are waiting for a worker again.`,
      });
      await until('all are written', () => written.size === ids.length);
      expect(await retryJobs(settings)).toMatchObject({ code: 0, text: expect.stringContaining(' 0 failed jobs') });
    } finally {
      await close();
      await consumer.close();
    }
  });

  it('the command exits with 1 when the queue does not answer', async () => {
    const away = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
    const nowhere = settings.REDIS_URL === undefined ? away : { ...away, REDIS_URL: 'redis://127.0.0.1:1' };
    expect(await retryJobs(nowhere)).toMatchObject({ code: 1, text: expect.stringContaining('did not answer') });
  });
});
