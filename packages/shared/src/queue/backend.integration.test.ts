import { createTestDatabase, startFaultProxy, throughProxy } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { producerBinding, type QueueBinding, workerBinding } from './backend.ts';
import { createJobProducer } from './enqueue.ts';

const job = { version: 1 as const, event_ids: ['018f0000-0000-7000-8000-000000000000'] };

it('a producer whose PostgreSQL was away at first adds jobs when it is there', async () => {
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

describe('connections of the queue in PostgreSQL', () => {
  it('survive that one breaks between two statements of BullMQ', async () => {
    await using database = await createTestDatabase();
    const { options, end } = workerBinding({ kind: 'postgres', url: database.url }, 'events');
    const client = await (options.connection as Pool).connect();
    expect(() => client.emit('error', new Error('read ECONNRESET'))).not.toThrow();
    client.release(true);
    end();
  });

  it('wait for the disk only where a job that is added must not be lost', async () => {
    await using database = await createTestDatabase();
    const backend = { kind: 'postgres' as const, url: database.url };
    // As a server has it that was not set up for tests.
    const waitForTheDisk = `do $$ begin
      execute format('alter database %I set synchronous_commit = on', current_database()); end $$`;
    const ask = async ({ options, end }: QueueBinding, question: string) => {
      const { rows } = await (options.connection as Pool).query(question);
      end();
      return rows;
    };
    await ask(workerBinding(backend, 'events'), waitForTheDisk);
    const commits = (binding: QueueBinding) => ask(binding, 'show synchronous_commit');
    expect(await commits(producerBinding(backend, 'event-writes'))).toEqual([{ synchronous_commit: 'on' }]);
    expect(await commits(producerBinding(backend, 'events', true))).toEqual([{ synchronous_commit: 'off' }]);
    expect(await commits(workerBinding(backend, 'event-writes'))).toEqual([{ synchronous_commit: 'off' }]);
  });
});
