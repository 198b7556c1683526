import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { startOwnPostgres, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { readWrittenPosition } from './queries.ts';
import { parseLsn } from './wal-position.ts';

// What is committed without waiting for the disk stays off it for longer than this test lasts.
const settings = { wal_writer_delay: '10s' };

const resources = new AsyncDisposableStack();
let db: Database;
beforeAll(async () => {
  const { url } = resources.use(await startOwnPostgres({ settings }));
  db = createDatabase({ url, applicationName: 'test', poolSize: 2, onError: () => undefined });
  resources.defer(() => db.destroy());
  await sql`create table written (n int)`.execute(db);
});
afterAll(async () => resources.disposeAsync());

const flushedPosition = async () => {
  const { rows } = await sql<{ lsn: string }>`select pg_current_wal_flush_lsn()::text as lsn`.execute(db);
  return parseLsn(rows[0]?.lsn ?? '');
};

/** @returns up to where the primary has written at least */
async function commitLater(): Promise<bigint> {
  await db.transaction().execute(async (trx) => {
    await sql`set local synchronous_commit = off`.execute(trx);
    await sql`insert into written values (1)`.execute(trx);
  });
  const { rows } = await sql<{ lsn: string }>`select pg_current_wal_insert_lsn()::text as lsn`.execute(db);
  return parseLsn(rows[0]?.lsn ?? '');
}

describe('the position that a list must show', () => {
  it('covers a commit that did not wait for the disk, and is on the disk, from where a replica gets it', async () => {
    for (let round = 0; round < 20; round++) {
      const written = await commitLater();
      const { lsn } = await readWrittenPosition(db);
      expect(lsn).toBeGreaterThanOrEqual(written);
      expect(await flushedPosition()).toBeGreaterThanOrEqual(lsn);
    }
  });

  it('writes nothing where everything is on the disk', async () => {
    const isSettled = async () => {
      const before = await readWrittenPosition(db);
      return before.lsn === (await readWrittenPosition(db)).lsn;
    };
    // The server writes of itself now and then.
    await until('two lists find the same position', isSettled);
  });

  it('is told although commits wait for a synchronous replica that is away', async () => {
    await sql`alter system set synchronous_standby_names = 'nobody'`.execute(db);
    await sql`select pg_reload_conf()`.execute(db);
    const waits = async () => (await sql`select from pg_settings where setting = 'nobody'`.execute(db)).rows.length > 0;
    await until('the server has read its settings', waits);
    await commitLater();
    expect(await readWrittenPosition(db)).toMatchObject({ timeline: 1 });
  });
});
