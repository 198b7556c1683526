import type { EventEmitter } from 'node:events';
import { createTestDatabase, startFaultProxy, throughProxy } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import type { PostgresQueueBackend } from 'bullmq';
import { producerBinding, workerBinding } from './backend.ts';
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

it('a connection to PostgreSQL that breaks between two statements of BullMQ does not end the process', async () => {
  await using database = await createTestDatabase();
  const { options, factory } = producerBinding({ kind: 'postgres', url: database.url }, 'events');
  const backend = factory('events', options, {}) as PostgresQueueBackend;
  // As BullMQ's queues do: an idle connection that the end of the database cuts is told to the backend.
  backend.on('error', () => undefined);
  const client = await backend.connection.pool.connect();
  expect(() => (client as unknown as EventEmitter).emit('error', new Error('read ECONNRESET'))).not.toThrow();
  client.release(true);
  await backend.close();
});

describe('connections of the queue in PostgreSQL', () => {
  /** What the first connection of a backend answers. */
  async function ask(binding: ReturnType<typeof producerBinding>, question: string, first?: string) {
    const backend = binding.factory('events', binding.options, {}) as PostgresQueueBackend;
    backend.on('error', () => undefined);
    try {
      const client = await backend.connection.pool.connect();
      if (first !== undefined) await client.query(first, ['events']);
      const { rows } = await client.query(question);
      client.release();
      return rows;
    } finally {
      await backend.close();
    }
  }

  it('wait for the disk only where a job that is added must not be lost', async () => {
    await using database = await createTestDatabase();
    const backend = { kind: 'postgres' as const, url: database.url };
    // As a server has it that was not set up for tests.
    const waitForTheDisk = `do $$ begin
      execute format('alter database %I set synchronous_commit = on', current_database()); end $$`;
    await ask(workerBinding(backend, 'events'), waitForTheDisk);
    const commits = (binding: ReturnType<typeof producerBinding>) => ask(binding, 'show synchronous_commit');
    expect(await commits(producerBinding(backend, 'event-writes'))).toEqual([{ synchronous_commit: 'on' }]);
    expect(await commits(producerBinding(backend, 'events', true))).toEqual([{ synchronous_commit: 'off' }]);
    expect(await commits(workerBinding(backend, 'event-writes'))).toEqual([{ synchronous_commit: 'off' }]);
  });

  it('prepare each statement once', async () => {
    await using database = await createTestDatabase();
    const binding = workerBinding({ kind: 'postgres', url: database.url }, 'events');
    const rows = await ask(binding, 'select name from pg_prepared_statements', 'select $1::text');
    expect(rows).toHaveLength(1);
  });
});
