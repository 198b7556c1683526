import { createDatabaseClock, type Database } from '@enterprise-api/shared/ledger';
import { systemClock } from '@enterprise-api/shared/runtime';
import { insertOrganization, insertWebhook, lowest, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createJobHandlers } from '../queue-jobs.ts';
import { fanOutOf } from '../testing/fan-out.ts';
import { emitEvents, testBox } from '../testing/ledger.ts';

let db: Database;
let close: () => Promise<void>;
let organizationId: string;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());
beforeEach(async () => {
  await sql`truncate deliveries, pending_deliveries, outbox`.execute(db);
  organizationId = await insertOrganization(db);
  await insertWebhook(db, { organizationId });
});

const emit = (count: number) => emitEvents(db, organizationId, count);
const outboxSize = async () => (await db.selectFrom('outbox').select('event_id').execute()).length;
const fail = (error: unknown) => {
  throw error;
};
const fanOutWith = (process: Parameters<typeof fanOutOf>[1]) => fanOutOf(db, process);
/** The webhooks grow older too: one that was made after an event does not get it. */
const makeOverdue = async () => {
  await sql`update webhooks set created_at = clock_timestamp() - interval '1 hour'`.execute(db);
  await sql`update outbox set created_at = clock_timestamp() - interval '3 seconds'`.execute(db);
};

describe('a process without free capacity', () => {
  it('leaves events of a job in the outbox, and fans them out as soon as it has capacity, however young they are', async () => {
    const process = { free: 2 };
    const { fanOut, accepted, left } = fanOutWith(process);
    expect(await fanOut.fanOutEvents(await emit(5))).toBe(2);
    expect([await outboxSize(), left()]).toEqual([3, 1]);
    process.free = 0;
    expect(await fanOut.fanOutOverdue()).toBe('no_capacity');
    expect(await outboxSize()).toBe(3);

    process.free = 2;
    expect(await fanOut.fanOutOverdue()).toBe('again');
    expect(await outboxSize()).toBe(1);
    expect(await fanOut.fanOutOverdue()).toBe('again');
    expect(await outboxSize()).toBe(0);
    expect(await fanOut.fanOutOverdue()).toBe('all_visited');
    expect(accepted.filter((rows) => rows > 0)).toEqual([2, 2, 1]);
  });

  it('fans nothing out for a job while it should lease no further deliveries, whatever capacity it has', async () => {
    const process = { free: 10, mayLease: false };
    const { fanOut, left } = fanOutWith(process);
    const ids = await emit(2);
    expect(await fanOut.fanOutEvents(ids)).toBe('no_capacity');
    expect([await outboxSize(), left()]).toEqual([2, 1]);
    process.mayLease = true;
    expect(await fanOut.fanOutOverdue()).toBe('again');
    expect(await outboxSize()).toBe(0);
  });

  it('leaves young events to their jobs again, some time after it left any in the outbox', async () => {
    const process = { free: 0 };
    const { fanOut, pass } = fanOutWith(process);
    const fannedOutYoung = async () => {
      process.free = 0;
      await fanOut.fanOutEvents(await emit(1));
      process.free = 10;
      pass(10_000);
      await sql`update outbox set created_at = clock_timestamp()`.execute(db);
      return (await fanOut.fanOutOverdue()) === 'all_visited' ? 0 : 1;
    };
    expect(await lowest(0, fannedOutYoung)).toBe(0);
    expect(await outboxSize()).toBe(1);
    await makeOverdue();
    expect(await fanOut.fanOutOverdue()).toBe('again');
    expect(await outboxSize()).toBe(0);
  });

  it('fans out fewer events of a job once it has seen how many deliveries events have', async () => {
    for (let count = 0; count < 9; count++) await insertWebhook(db, { organizationId });
    const { fanOut } = fanOutWith({ free: 20 });
    expect(await fanOut.fanOutEvents(await emit(30))).toBe(20);
    expect(await fanOut.fanOutEvents(await emit(30))).toBeLessThan(10);
  });

  it('serves organizations in turn, also those before the one that it served last', async () => {
    const process = { free: 0 };
    const { fanOut } = fanOutWith(process);
    const events = await emit(3);
    organizationId = await insertOrganization(db);
    await insertWebhook(db, { organizationId });
    events.push(...(await emit(3)));
    expect(await fanOut.fanOutEvents(events)).toBe('no_capacity');
    process.free = 1;
    const ahead: number[] = [];
    while ((await fanOut.fanOutOverdue()) !== 'all_visited') {
      const rows = await db.selectFrom('deliveries').select('organization_id').execute();
      const second = rows.filter((row) => row.organization_id === organizationId).length;
      ahead.push(rows.length - 2 * second);
    }
    expect(await outboxSize()).toBe(0);
    // In turn: none is ever ahead of the other by more than one.
    expect(Math.max(...ahead.map(Math.abs))).toBe(1);
  });
});

const origin = { addedAt: Date.now(), traceparent: undefined };

it('has the relay look at young events too when a job says that there are more in the outbox', async () => {
  const { fanOut, left } = fanOutWith({ free: 10 });
  const handlers = createJobHandlers({ db, clock: createDatabaseClock(systemClock), box: testBox }, fanOut, fail);
  await emit(3);
  await handlers.fanOut({ version: 1, more_in_outbox: true }, origin);
  expect([await outboxSize(), left()]).toEqual([3, 1]);
  expect(await fanOut.fanOutOverdue()).toBe('again');
  expect(await outboxSize()).toBe(0);
});

it('finishes a job after the fan-out of its events, also after one that failed, which is reported', async () => {
  const { fanOut } = fanOutWith({ free: 10 });
  const errors: unknown[] = [];
  const handlers = createJobHandlers({ db, clock: createDatabaseClock(systemClock), box: testBox }, fanOut, (error) =>
    errors.push(error),
  );
  const ids = await emit(2);
  await handlers.fanOut({ version: 1, event_ids: ['not a uuid'] }, origin);
  expect(errors).toHaveLength(1);
  await handlers.fanOut({ version: 1, event_ids: ids }, origin);
  expect(await outboxSize()).toBe(0);
});
