import type { EventEmitter } from 'node:events';
import { createTestDatabase, startFaultProxy, throughProxy } from '@enterprise-api/testkit';
import { expect, it } from '@jest/globals';
import type { PostgresQueueBackend } from 'bullmq';
import { producerBinding } from './backend.ts';
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
