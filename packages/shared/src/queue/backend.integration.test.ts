import {
  createTestDatabase,
  queueBackends,
  startFaultProxy,
  startRedis,
  throughProxy,
  until,
} from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { Worker } from 'bullmq';
import type { Pool } from 'pg';
import { producerBinding, type QueueBinding, selectQueueBackend, workerBinding } from './backend.ts';
import { createJobProducer } from './enqueue.ts';

const job = { version: 1 as const, event_ids: ['018f0000-0000-7000-8000-000000000000'] };

describe.each(queueBackends())('two workers of a queue on $name', ({ start }) => {
  it('miss no job that is added while they finish others', async () => {
    await using database = await createTestDatabase();
    await using opened = new AsyncDisposableStack();
    const { redisUrl, close } = await start();
    opened.defer(close);
    const backend = selectQueueBackend({ redisUrl, databaseUrl: database.url });
    const producer = createJobProducer(backend, 'fanOut', () => undefined);
    opened.defer(producer.close);
    let handled = 0;
    const handle = async () => {
      handled += 1;
    };
    const startWorker = async () => {
      const { options, factory, end } = workerBinding(backend, 'events');
      // It finds a job that it missed after a minute only.
      const worker = new Worker('events', handle, { ...options, drainDelay: 60 }, factory);
      worker.on('error', () => undefined);
      opened.defer(async () => {
        await worker.close();
        await end();
      });
      await worker.waitUntilReady();
    };
    await Promise.all([startWorker(), startWorker()]);
    // A slow machine may take longer than a pool waits for a connection.
    const add = (): Promise<void> => producer.add(job).catch(add);
    for (let round = 1; round <= 100; round++) {
      const first = add();
      // The second one is on its way while the first is finished, more or less; the third when both may be.
      await Promise.all([first, first.then(add), first.then(() => new Promise(setImmediate)).then(add)]);
      await until('every job is handled', () => handled === round * 3, { withinMs: 20_000 });
    }
  });
});

describe('a producer whose store was away at first adds jobs when it is there', () => {
  it('in PostgreSQL', async () => {
    await using database = await createTestDatabase();
    const { hostname, port } = new URL(database.url);
    await using proxy = await startFaultProxy({ host: hostname, port: Number(port) });
    const backend = { kind: 'postgres' as const, url: throughProxy(database.url, proxy) };
    const producer = createJobProducer(backend, 'fanOut', () => undefined);
    proxy.cut();
    await expect(producer.add(job)).rejects.toThrow('Connection terminated');
    proxy.restore();
    await producer.add(job);
    expect(await producer.waitingCount()).toBe(1);
    await producer.close();
  });

  it('in Redis', async () => {
    await using server = await startRedis();
    const { hostname, port } = new URL(server.url);
    await using proxy = await startFaultProxy({ host: hostname, port: Number(port) });
    proxy.cut();
    const backend = { kind: 'redis' as const, url: throughProxy(server.url, proxy) };
    const producer = createJobProducer(backend, 'fanOut', () => undefined);
    proxy.restore();
    await producer.add(job);
    expect(await producer.waitingCount()).toBe(1);
    await producer.close();
  });
});

describe('connections of the queue in PostgreSQL', () => {
  it('survive that one breaks between two statements of BullMQ', async () => {
    await using database = await createTestDatabase();
    const { options, end } = workerBinding({ kind: 'postgres', url: database.url }, 'events');
    const client = await (options.connection as Pool).connect();
    expect(() => client.emit('error', new Error('read ECONNRESET'))).not.toThrow();
    client.release(true);
    await end();
  });

  it('wait for the disk only where a job that is added must not be lost', async () => {
    await using database = await createTestDatabase();
    const backend = { kind: 'postgres' as const, url: database.url };
    // As a server has it that was not set up for tests.
    const waitForTheDisk = `do $$ begin
      execute format('alter database %I set synchronous_commit = on', current_database()); end $$`;
    const ask = async ({ options, end }: QueueBinding, question: string) => {
      const { rows } = await (options.connection as Pool).query(question);
      await end();
      return rows;
    };
    await ask(workerBinding(backend, 'events'), waitForTheDisk);
    const commits = (binding: QueueBinding) => ask(binding, 'show synchronous_commit');
    expect(await commits(producerBinding(backend, 'event-writes'))).toEqual([{ synchronous_commit: 'on' }]);
    expect(await commits(producerBinding(backend, 'events', true))).toEqual([{ synchronous_commit: 'off' }]);
    expect(await commits(workerBinding(backend, 'event-writes'))).toEqual([{ synchronous_commit: 'off' }]);
  });

  it('prepare each statement once', async () => {
    await using database = await createTestDatabase();
    const { options, end } = workerBinding({ kind: 'postgres', url: database.url }, 'events');
    const client = await (options.connection as Pool).connect();
    await client.query('select $1::text', ['events']);
    const { rows } = await client.query('select name from pg_prepared_statements');
    client.release();
    await end();
    expect(rows).toHaveLength(1);
  });
});
