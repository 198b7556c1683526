import { createTestDatabase, queueBackends } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { openQueue, selectQueueBackend } from './backend.ts';
import { createJobProducer } from './enqueue.ts';
import { jobs } from './jobs.ts';

const { queue: name } = jobs.fanOut;

describe.each(queueBackends())('a queue on $name', ({ start }) => {
  it('that an operator has paused says so until it is resumed, also when jobs wait in it', async () => {
    await using database = await createTestDatabase();
    const { redisUrl, close } = await start();
    const backend = selectQueueBackend({ redisUrl, databaseUrl: database.url });
    const producer = createJobProducer(backend, 'fanOut', () => undefined);
    const { queue: operator, close: closeOperator } = openQueue(backend, name, () => undefined);
    try {
      await operator.pause();
      await producer.add({ version: 1, event_ids: ['018f0000-0000-7000-8000-000000000000'] });
      expect(await producer.isPaused()).toBe(true);
      await operator.resume();
      expect([await producer.isPaused(), await producer.waitingCount()]).toEqual([false, 1]);
    } finally {
      await Promise.all([producer.close(), closeOperator()]);
      await close();
    }
  });
});
