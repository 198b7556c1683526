import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { type OwnPostgres, startOwnPostgres } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { readWrittenPosition } from './queries.ts';
import { parseLsn } from './wal-position.ts';

const settings = {
  // What is committed without waiting for the disk stays off it for longer than this test lasts.
  wal_writer_delay: '10s',
  // A synchronous replica that is away: ordinary commits wait for it.
  synchronous_standby_names: 'nobody',
};

let server: OwnPostgres;
let db: Database;
beforeAll(async () => {
  server = await startOwnPostgres({ settings });
  const pool = { poolSize: 2, serverSettings: { synchronous_commit: 'local', statement_timeout: '20000' } };
  db = createDatabase({ url: server.url, applicationName: 'test', onError: () => undefined, ...pool });
  await sql`create table written (n int)`.execute(db);
}, 60_000);
afterAll(async () => {
  await db.destroy();
  await server[Symbol.asyncDispose]();
});

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

  it('is told although a synchronous replica is away', async () => {
    await commitLater();
    const pool = createDatabase({ url: server.url, applicationName: 'test', poolSize: 1, onError: () => undefined });
    try {
      expect((await readWrittenPosition(pool)).timeline).toBe(1);
    } finally {
      await pool.destroy();
    }
  }, 30_000);

  it('writes nothing where everything is on the disk', async () => {
    const { lsn } = await readWrittenPosition(db);
    expect((await readWrittenPosition(db)).lsn).toBe(lsn);
  });
});
