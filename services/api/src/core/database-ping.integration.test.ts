import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import {
  createTestDatabase,
  type FaultProxy,
  startFaultProxy,
  type TestDatabase,
  throughProxy,
  until,
} from '@enterprise-api/testkit';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createDatabaseHealth } from './database-health.ts';
import { createDatabasePing } from './database-ping.ts';

const applicationName = 'database-ping';

let database: TestDatabase;
let observer: Database;
let proxy: FaultProxy;
beforeEach(async () => {
  database = await createTestDatabase();
  observer = createDatabase({ url: database.url, applicationName: 'observer', poolSize: 1 });
  const { hostname, port } = new URL(database.url);
  proxy = await startFaultProxy({ host: hostname, port: Number(port) });
});
afterEach(async () => {
  await proxy.close();
  await observer.destroy();
  await database.drop();
});

function openPing(options: { url: string; useEveryMs?: number }) {
  const { ping, close } = createDatabasePing({ ...options, applicationName });
  return { ping, [Symbol.asyncDispose]: close };
}

/** Asks whether the database answers through the proxy, as the API does. */
function openHealth() {
  const { ping, [Symbol.asyncDispose]: close } = openPing({ url: throughProxy(database.url, proxy) });
  const { check } = createDatabaseHealth({ ping, clock: { now: Date.now, monotonic: () => performance.now() } });
  return { check, [Symbol.asyncDispose]: close };
}

/** The open connections that have answered, and when each was used last. */
async function connections(): Promise<{ pid: number; used_at: Date }[]> {
  const { rows } = await sql<{ pid: number; used_at: Date }>`select pid, query_start as used_at from pg_stat_activity
    where datname = current_database() and application_name = ${applicationName} and state = 'idle' and query = 'select 1'`.execute(
    observer,
  );
  return rows;
}

const isOne = ({ length }: { length: number }) => length === 1;

describe('whether the database answers', () => {
  it('is asked over a connection that is open already: to open one takes a busy server too long', async () => {
    await using health = openHealth();
    await until('a connection is open', connections, { holds: isOne });
    // Opening a connection takes four answers, each of them 240 ms.
    proxy.delay(120);
    expect(await health.check()).toBe(true);
  });

  it('is asked over another connection where the open one is dead', async () => {
    await using health = openHealth();
    await until('a connection is open', connections, { holds: isOne });
    proxy.blackHole();
    expect(await health.check()).toBe(true);
  });

  it('is no when no connection carries an answer', async () => {
    await using health = openHealth();
    await until('a connection is open', connections, { holds: isOne });
    proxy.freeze();
    expect(await health.check()).toBe(false);
    proxy.restore();
  });
});

describe('the connection of the pings', () => {
  it('is used again and again, so that it stays open', async () => {
    await using _ping = openPing({ url: database.url, useEveryMs: 50 });
    const [first] = await until('a connection is open', connections, { holds: isOne });
    const isUsedLater = ([now]: { pid: number; used_at: Date }[]) =>
      now?.pid === first?.pid && Number(now?.used_at) > Number(first?.used_at);
    await until('it is used again', connections, { holds: isUsedLater });
  });
});
