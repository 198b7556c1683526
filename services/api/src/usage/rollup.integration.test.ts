import type { Database } from '@enterprise-api/shared/ledger';
import { insertOrganization, insertWebhook, openTestDatabase, until, untilLockWait } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { restartDelivery } from '../redelivery/queries.ts';
import {
  countedHours,
  countNaively,
  deliverAt,
  forgetHistory,
  insertAttemptAt,
  insertDeliveryAt,
  insertEventAt,
  untilComplete,
} from '../testing/usage-history.ts';
import { hourMs, startOfHour } from './hours.ts';
import { createSpanCounter, createUsageRollup } from './rollup.ts';

const minute = 60_000;

let db: Database;
let close: () => Promise<void>;
let organizationId: string;
let webhookId: string;
beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
  organizationId = await insertOrganization(db);
  webhookId = await insertWebhook(db, { organizationId });
});
afterAll(() => close());
beforeEach(() => forgetHistory(db, null));

/** Six hours ago. */
const begin = startOfHour(Date.now()) - 6 * hourMs;
const hour = (at: number, events: number, deliveries: number, attempts: number) => ({
  organization_id: organizationId,
  hour: new Date(at),
  events,
  deliveries,
  attempts,
});

async function countAll(): Promise<void> {
  const count = createSpanCounter(db);
  await untilComplete(db);
  while ((await count()) === 'some');
}

async function progress() {
  return db.selectFrom('usage_progress').selectAll().executeTakeFirstOrThrow();
}

describe('the counting of closed hours', () => {
  it('counts each row in the hour in which it was written', async () => {
    const at = begin;
    const event = await insertEventAt(db, organizationId, at + 59 * minute, -2 * minute);
    const delivery = await insertDeliveryAt(db, event, webhookId, at + 61 * minute);
    await insertAttemptAt(db, delivery, at + 62 * minute, at + 62 * minute);
    await insertAttemptAt(db, delivery, at + 119 * minute, at + 121 * minute);
    await deliverAt(db, delivery, at + 181 * minute, at + 181 * minute);
    await countAll();
    const expected = [
      hour(at, 1, 0, 0),
      hour(at + hourMs, 0, 1, 1),
      hour(at + 2 * hourMs, 0, 0, 1),
      hour(at + 3 * hourMs, 0, 0, 1),
    ];
    expect(await countedHours(db)).toEqual(expected);
    expect(await countNaively(db)).toEqual(expected);
    expect((await progress()).counted_until?.getTime()).toBeGreaterThanOrEqual(at + 5 * hourMs);
  });

  it('leaves out tests, whatever became of them', async () => {
    const at = begin;
    const made: string[] = [];
    for (const test of [false, true, true, true]) {
      const event = await insertEventAt(db, organizationId, at);
      const delivery = await insertDeliveryAt(db, event, webhookId, at);
      await sql`update events set test = ${test} where id = ${event}`.execute(db);
      await sql`update deliveries set test = ${test} where id = ${delivery}`.execute(db);
      made.push(delivery);
    }
    const [real, prompt, late, failed] = made as [string, string, string, string];
    for (const delivery of [real, prompt]) await deliverAt(db, delivery, at + minute, at + minute);
    await deliverAt(db, late, at + 20 * minute, at + 20 * minute);
    await insertAttemptAt(db, failed, at + minute, at + minute);
    await countAll();
    expect(await countedHours(db)).toEqual([hour(at, 1, 1, 1)]);
    expect(await countNaively(db)).toEqual([hour(at, 1, 1, 1)]);
  });

  it('leaves out the hour that runs', async () => {
    await insertEventAt(db, organizationId, begin);
    await insertEventAt(db, organizationId, Date.now());
    await countAll();
    expect(await countedHours(db)).toEqual([hour(begin, 1, 0, 0)]);
  });

  it('counts an attempt that a suspended worker recorded hours after its start when it was recorded', async () => {
    const at = begin;
    const delivery = await insertDeliveryAt(db, await insertEventAt(db, organizationId, at), webhookId, at);
    await insertEventAt(db, organizationId, at + 3 * hourMs);
    await untilComplete(db);
    await createSpanCounter(db, 3 * hourMs)();
    expect((await progress()).counted_until).toEqual(new Date(at + 2 * hourMs));
    await insertAttemptAt(db, delivery, at + minute, at + 3 * hourMs + minute);
    await countAll();
    expect(await countedHours(db)).toEqual([hour(at, 1, 1, 0), hour(at + 3 * hourMs, 1, 0, 1)]);
  });

  it('counts each attempt that delivered once and in its hour, when its delivery is sent again before or after', async () => {
    const at = begin;
    const deliver = async () => {
      const delivery = await insertDeliveryAt(db, await insertEventAt(db, organizationId, at), webhookId, at);
      await deliverAt(db, delivery, at + minute, at + minute);
      return delivery;
    };
    const sendAgain = async (delivery: string) => {
      await db.transaction().execute((trx) => restartDelivery(trx, organizationId, delivery));
      await deliverAt(db, delivery, at + 3 * hourMs, at + 3 * hourMs);
    };
    const before = await deliver();
    const after = await deliver();
    await sendAgain(before);
    await untilComplete(db);
    await createSpanCounter(db, 2 * hourMs)();
    expect(await countedHours(db)).toEqual([hour(at, 2, 2, 2)]);
    await sendAgain(after);
    await countAll();
    const expected = [hour(at, 2, 2, 2), hour(at + 3 * hourMs, 0, 0, 2)];
    expect(await countedHours(db)).toEqual(expected);
    expect(await countNaively(db)).toEqual(expected);
  });

  it('counts attempts from before their rows had a time in the hour of their start', async () => {
    const at = begin;
    const delivery = await insertDeliveryAt(db, await insertEventAt(db, organizationId, at), webhookId, at);
    await insertAttemptAt(db, delivery, at + minute, null);
    await countAll();
    expect(await countedHours(db)).toEqual([hour(at, 1, 1, 1)]);
  });

  it('waits for a transaction that has written and is still open, and counts what it wrote', async () => {
    await insertEventAt(db, organizationId, begin);
    await db.transaction().execute(async (trx) => {
      await insertEventAt(trx, organizationId, begin + minute);
      for (let run = 0; run < 3; run++) await createSpanCounter(db)();
      expect([await countedHours(db), (await progress()).counted_until]).toEqual([[], null]);
    });
    await countAll();
    expect(await countedHours(db)).toEqual([hour(begin, 2, 0, 0)]);
  });

  it('goes on after a restore, when the ids of transactions begin anew', async () => {
    await insertEventAt(db, organizationId, begin);
    await sql`update usage_progress set mark_at = clock_timestamp(), mark_xid = 9000000000000`.execute(db);
    await countAll();
    expect(await countedHours(db)).toEqual([hour(begin, 1, 0, 0)]);
  });

  it('is done by one process at a time: another finds nothing to do', async () => {
    await insertEventAt(db, organizationId, begin);
    await untilComplete(db);
    await db.transaction().execute(async (trx) => {
      await sql`select from usage_progress for update`.execute(trx);
      expect(await createSpanCounter(db)()).toBe('none');
    });
    expect(await countedHours(db)).toEqual([]);
  });

  it('divides a span whose statement takes too long, and counts all of it', async () => {
    const at = begin;
    for (const offset of [0, 20, 40, 70]) await insertEventAt(db, organizationId, at + offset * minute);
    const count = createSpanCounter(db, 2 * hourMs);
    await untilComplete(db);
    await db.transaction().execute(async (trx) => {
      await sql`lock table usage_ledger in access exclusive mode`.execute(trx);
      const counting = count();
      await untilLockWait(db);
      await sql`select pg_cancel_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
      expect(await counting).toBe('some');
    });
    expect((await progress()).counted_until).toBeNull();
    await count();
    expect((await progress()).counted_until).toEqual(new Date(at));
    while ((await count()) === 'some');
    expect(await countedHours(db)).toEqual([hour(at, 3, 0, 0), hour(at + hourMs, 1, 0, 0)]);
  });

  it('forgets processes that wrote no counts for a week', async () => {
    await sql`insert into usage_writers (id, sequence, written_at)
      values (gen_random_uuid(), 1, now() - interval '8 days'), (gen_random_uuid(), 2, now())`.execute(db);
    await insertEventAt(db, organizationId, begin);
    await untilComplete(db);
    const rollup = createUsageRollup({ db, onError: (error) => expect(error).toBeUndefined() });
    rollup.start();
    const remaining = () => db.selectFrom('usage_writers').select('sequence').execute();
    await until('the old writer is gone', async () => (await remaining()).length === 1);
    await until('the hour is counted', async () => (await countedHours(db)).length === 1);
    await rollup.stop();
    expect(await remaining()).toEqual([{ sequence: 2 }]);
    expect(await countedHours(db)).toEqual([hour(begin, 1, 0, 0)]);
  });
});
