import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { insertOrganization, insertWebhook, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  countRows,
  deliverAll,
  finishAll,
  gone,
  insertOldEvents,
  keepOpen,
  makePending,
  monthBefore,
  monthsAgo,
  type OldDeliveries,
  partitionAt,
  runOnce,
  whole,
} from '../testing/old-months.ts';
import { dropPartition, readProgress } from './queries.ts';

let db: Database;
let url: string;
let close: () => Promise<void>;
let organizationId: string;

beforeAll(async () => {
  ({ db, url, close } = await openTestDatabase());
  organizationId = await insertOrganization(db);
  await insertWebhook(db, { organizationId });
});
afterAll(() => close());

/** Events of a month that is past one of its times. */
const old = async (months: number): Promise<OldDeliveries> => {
  // Each test fills months that an earlier one has emptied.
  await sql`update retention_progress set bodies_removed_until = null, keys_removed_until = null`.execute(db);
  return insertOldEvents(db, organizationId, await monthBefore(db, months), 3);
};

describe('a delivery that a concurrent retry makes pending', () => {
  /** Runs while the transaction is open, and again when it has committed: once it waits, then it sees what is pending. */
  const runBesideRetry = async (past: OldDeliveries) => {
    // Older partitions go while this one is pending, or the run would wait at the first of them.
    await runOnce(url);
    await deliverAll(db, past.leases);
    const [delivery] = past.leases;
    const api = createDatabase({ url, applicationName: 'retry', poolSize: 1 });
    await api.transaction().execute(async (retry) => {
      await keepOpen(retry);
      const body = retry.selectFrom('event_bodies').select('body').where('event_id', '=', String(delivery?.event_id));
      expect(await body.execute()).toHaveLength(1);
      await makePending(retry, 'deliveries', delivery?.id);
      expect((await runOnce(url))?.isComplete).toBe(false);
    });
    await api.destroy();
    return runOnce(url);
  };

  it('keeps its month, where that is past its time', async () => {
    const past = await old(monthsAgo.pastHistory);
    expect((await runBesideRetry(past))?.kept.map(({ pending }) => pending)).toEqual([1]);
    expect(await countRows(db, past.eventIds)).toMatchObject({ events: 3, bodies: 1, deliveries: 3 });
    await finishAll(db);
    await runOnce(url);
    expect(await countRows(db, past.eventIds)).toEqual(gone);
  });

  it.each(['deliveries', 'event_bodies'] as const)(
    'keeps its partition of %s, also when it ends last',
    async (table) => {
      const past = await old(monthsAgo.pastHistory);
      await deliverAll(db, past.leases);
      await makePending(db, 'deliveries', past.leases[0]?.id);
      expect(await dropPartition(db, await partitionAt(db, table, past))).toBe(1);
      expect(await countRows(db, past.eventIds)).toMatchObject({ events: 3, bodies: 3, deliveries: 3 });
      await finishAll(db);
      await runOnce(url);
    },
  );

  it('keeps its body, where bodies are past their time', async () => {
    const past = await old(monthsAgo.pastBodies);
    expect(await runBesideRetry(past)).toMatchObject({ kept: [], isComplete: true });
    expect(await countRows(db, past.eventIds)).toEqual({ ...whole, bodies: 1 });
    await finishAll(db);
    await runOnce(url);
    expect(await countRows(db, past.eventIds)).toEqual({ ...whole, bodies: 0 });
  });
});

describe('bodies', () => {
  it('go day after day: none goes before an older one whose partition somebody reads', async () => {
    const [older, younger] = [await old(monthsAgo.pastBodies + 1), await old(monthsAgo.pastBodies)];
    for (const { leases } of [older, younger]) await deliverAll(db, leases);
    const { name, until } = await partitionAt(db, 'event_bodies', older);
    const other = createDatabase({ url, applicationName: 'dump', poolSize: 1 });
    await other.transaction().execute(async (dump) => {
      await keepOpen(dump);
      await sql`select count(*) from ${sql.table(name)}`.execute(dump);
      expect((await runOnce(url))?.isComplete).toBe(false);
      expect((await readProgress(db)).bodies_removed_until?.getTime() ?? 0).toBeLessThan(until);
      expect(await countRows(db, older.eventIds)).toEqual(whole);
      expect(await countRows(db, younger.eventIds)).toEqual(whole);
    });
    await other.destroy();
    expect((await runOnce(url))?.isComplete).toBe(true);
    for (const { eventIds } of [older, younger]) {
      expect(await countRows(db, eventIds)).toEqual({ ...whole, bodies: 0 });
    }
  });
});

it('history waits for who reads it for long, and who writes does not wait', async () => {
  const past = await old(monthsAgo.pastHistory);
  await deliverAll(db, past.leases);
  const other = createDatabase({ url, applicationName: 'dump', poolSize: 1 });
  await other.transaction().execute(async (dump) => {
    await keepOpen(dump);
    await sql`select count(*) from deliveries`.execute(dump);
    const running = runOnce(url);
    await insertOldEvents(db, organizationId, Date.now(), 1);
    expect((await running)?.isComplete).toBe(false);
    expect(await countRows(db, past.eventIds)).toEqual({ ...whole, bodies: 0, keys: 0 });
  });
  await other.destroy();
  expect((await runOnce(url))?.isComplete).toBe(true);
  expect(await countRows(db, past.eventIds)).toEqual(gone);
});

it('a statement behind retention waits 0.1 s at most, while retention still waits for a transaction', async () => {
  const past = await old(monthsAgo.pastHistory);
  await deliverAll(db, past.leases);
  const partition = await partitionAt(db, 'deliveries', past);
  const [reader, writer] = ['reader', 'writer'].map((applicationName) =>
    createDatabase({ url, applicationName, poolSize: 1, serverSettings: { lock_timeout: '1000' } }),
  ) as [Database, Database];
  await reader.transaction().execute(async (reading) => {
    await sql`select from deliveries limit 1`.execute(reading);
    const ended = await Promise.allSettled([
      dropPartition(db, partition),
      // It would be refused as well if it had to wait for a second.
      sql`update deliveries set status = status where id = ${past.leases[0]?.id}`.execute(writer),
    ]);
    expect(ended).toMatchObject([{ reason: { code: '55P03' } }, { status: 'fulfilled' }]);
    await sql`select from deliveries limit 1`.execute(reading);
  });
  await Promise.all([reader.destroy(), writer.destroy()]);
  expect(await countRows(db, past.eventIds)).toEqual(whole);
  await runOnce(url);
  expect(await countRows(db, past.eventIds)).toEqual(gone);
});
