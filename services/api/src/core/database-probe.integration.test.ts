import {
  createTestDatabase,
  type FaultProxy,
  startFaultProxy,
  type TestDatabase,
  throughProxy,
  until,
} from '@enterprise-api/testkit';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createDatabaseHealth } from './database-health.ts';
import { createDatabaseProbe } from './open-database.ts';

let database: TestDatabase;
let proxy: FaultProxy;
beforeEach(async () => {
  database = await createTestDatabase();
  const { hostname, port } = new URL(database.url);
  proxy = await startFaultProxy({ host: hostname, port: Number(port) });
});
afterEach(async () => {
  await proxy.close();
  await database.drop();
});

/** Asks whether the database answers through the proxy, as the API does. Its connection is open. */
async function openHealth() {
  const { probe, close } = createDatabaseProbe({ url: throughProxy(database.url, proxy), applicationName: 'probe' });
  const health = createDatabaseHealth(probe);
  await until('a connection is open', () => health.check());
  return { ...health, [Symbol.asyncDispose]: close };
}

describe('whether the database answers', () => {
  it('is asked over a connection that is open already: to open one takes a busy server too long', async () => {
    await using health = await openHealth();
    // Opening a connection takes four answers, each of them 240 ms.
    proxy.delay(120);
    await until('it answers in time', () => health.check());
  });

  it('is asked over a new connection once the open one has turned out dead', async () => {
    await using health = await openHealth();
    proxy.blackHole();
    expect(await health.check()).toBe(false);
    await until('a new connection answers', () => health.check());
  });

  it('is no when no connection carries an answer', async () => {
    await using health = await openHealth();
    proxy.freeze();
    expect(await health.check()).toBe(false);
    proxy.restore();
  });
});
