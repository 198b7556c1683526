import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openTestDatabase } from '../testing/builders.ts';

it('a connection that dies between two statements of a transaction fails the transaction, not the process', async () => {
  const { db, close } = await openTestDatabase();
  const work = db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
    const pid = rows[0]?.pid ?? 0;
    await sql`select pg_terminate_backend(${pid}, 5_000)`.execute(db);
    // The word of its end is in the socket by now; another round trip lets this process read it.
    await sql`select 1`.execute(db);
    await sql`select 1`.execute(trx);
  });
  await expect(work).rejects.toThrow();
  expect((await sql`select 1 as fine`.execute(db)).rows).toEqual([{ fine: 1 }]);
  await close();
});
