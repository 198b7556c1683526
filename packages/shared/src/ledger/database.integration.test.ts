import { createTestDatabase, openTestDatabase, startFaultProxy, throughProxy } from '@enterprise-api/testkit';
import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createDatabase } from './database.ts';

it('a connection that dies between two statements of a transaction fails the transaction, not the process', async () => {
  const { db, close } = await openTestDatabase();
  const work = db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
    const pid = rows[0]?.pid ?? 0;
    await sql`select pg_terminate_backend(${pid}, 5_000)`.execute(db);
    // The end of the connection is in the socket's buffer by now; another round trip lets this process read it.
    await sql`select 1`.execute(db);
    await sql`select 1`.execute(trx);
  });
  await expect(work).rejects.toThrow('connection error');
  expect((await sql`select 1 as fine`.execute(db)).rows).toEqual([{ fine: 1 }]);
  await close();
});

it('a server that is gone silently fails the statement, and the next one has a new connection', async () => {
  const database = await createTestDatabase();
  const { hostname, port } = new URL(database.url);
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) });
  const db = createDatabase({
    url: throughProxy(database.url, proxy),
    applicationName: 'test',
    poolSize: 1,
    silentAfterMs: 2_000,
  });
  await sql`select 1`.execute(db);
  proxy.freeze();
  await expect(sql`select 1`.execute(db)).rejects.toThrow('silent');
  proxy.restore();
  expect((await sql`select 1 as fine`.execute(db)).rows).toEqual([{ fine: 1 }]);
  await db.destroy();
  await proxy.close();
  await database.drop();
});

it('a connection to a server that only reads, as a former primary does, is not used again once a write was refused', async () => {
  const database = await createTestDatabase();
  const db = createDatabase({ url: database.url, applicationName: 'test', poolSize: 1 });
  // All later transactions of this session, as on a standby.
  await sql`set default_transaction_read_only = on`.execute(db);
  const write = () =>
    sql`insert into organizations (id, name, plan) values (gen_random_uuid(), 'x', 'pro')`.execute(db);
  await expect(write()).rejects.toMatchObject({ code: '25006' });
  await write();
  await db.destroy();
  await database.drop();
});
