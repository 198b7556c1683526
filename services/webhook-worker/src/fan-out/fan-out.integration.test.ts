import type { Database } from '@enterprise-api/shared/ledger';
import { insertOrganization, insertWebhook, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { emitEvents, plenty } from '../testing/ledger.ts';
import { createTaker } from './fan-out.ts';

let db: Database;
let close: () => Promise<void>;
let organizationId: string;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());
beforeEach(async () => {
  await sql`truncate deliveries, outbox`.execute(db);
  organizationId = await insertOrganization(db);
  await insertWebhook(db, { organizationId });
});

const emit = (count: number) => emitEvents(db, organizationId, count);
const outboxSize = async () => (await db.selectFrom('outbox').select('event_id').execute()).length;
/** The webhooks grow older too: one that was made after an event does not get it. */
const makeOverdue = async () => {
  await sql`update webhooks set created_at = clock_timestamp() - interval '1 hour'`.execute(db);
  await sql`update outbox set created_at = clock_timestamp() - interval '3 seconds'`.execute(db);
};

/** A taker in a process that has so much room. Time passes when a test says so. */
function bench(process: { room: number; mayTake?: boolean }) {
  const startedAt = Date.now();
  let now = 0;
  const accepted: number[] = [];
  let left = 0;
  const taker = createTaker({
    db,
    clock: { now: () => startedAt + now, monotonic: () => now },
    scheduler: {
      capacity: () => ({ ...plenty, total: process.room }),
      freeCapacity: () => process.room,
      noteDueRows: () => undefined,
    },
    leaseLoader: { accept: async (rows) => void accepted.push(rows.length) },
    settings: { leaseMs: 45_000, maxAttempts: 10 },
    mayTake: () => process.mayTake ?? true,
    onTaken: () => undefined,
    onLeft: () => {
      left += 1;
    },
  });
  return {
    taker,
    accepted,
    left: () => left,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

describe('a process without room', () => {
  it('leaves the events of a job, and takes them as soon as it has room, however young they are', async () => {
    const process = { room: 2 };
    const { taker, accepted, left } = bench(process);
    expect(await taker.takeEvents(await emit(5))).toBe(2);
    expect([await outboxSize(), left()]).toEqual([3, 1]);
    process.room = 0;
    expect(await taker.takeOverdue()).toBe('no_room');
    expect(await outboxSize()).toBe(3);

    process.room = 2;
    expect(await taker.takeOverdue()).toBe('go_on');
    expect(await outboxSize()).toBe(1);
    expect(await taker.takeOverdue()).toBe('go_on');
    expect(await outboxSize()).toBe(0);
    expect(await taker.takeOverdue()).toBe('saw_all');
    expect(accepted.filter((rows) => rows > 0)).toEqual([2, 2, 1]);
  });

  it('takes nothing while it should take on nothing more, whatever room it has', async () => {
    const process = { room: 10, mayTake: false };
    const { taker, left } = bench(process);
    const ids = await emit(2);
    expect(await taker.takeEvents(ids)).toBe('no_room');
    expect([await outboxSize(), left()]).toEqual([2, 1]);
    process.mayTake = true;
    expect(await taker.takeOverdue()).toBe('go_on');
    expect(await outboxSize()).toBe(0);
  });

  it('leaves young events to their jobs again, two seconds after it has left any', async () => {
    const process = { room: 0 };
    const { taker, pass } = bench(process);
    await taker.takeEvents(await emit(1));
    process.room = 10;
    pass(2_000);
    expect(await taker.takeOverdue()).toBe('saw_all');
    expect(await outboxSize()).toBe(1);
    await makeOverdue();
    expect(await taker.takeOverdue()).toBe('go_on');
    expect(await outboxSize()).toBe(0);
  });

  it('takes what has waited for a second nevertheless: another process may have room', async () => {
    const { taker, accepted, pass } = bench({ room: 0 });
    await emit(5);
    await makeOverdue();
    expect(await taker.takeOverdue()).toBe('no_room');
    pass(999);
    expect(await taker.takeOverdue()).toBe('no_room');
    pass(1);
    expect(await taker.takeOverdue()).toBe('go_on');
    expect([await outboxSize(), accepted]).toEqual([0, [0]]);
    const rows = await sql<{ due: boolean }>`select next_attempt_at <= now() as due from deliveries`.execute(db);
    expect(rows.rows).toEqual(Array(5).fill({ due: true }));
    await emit(1);
    await makeOverdue();
    expect(await taker.takeOverdue()).toBe('no_room');
  });

  it('comes back to the organizations before those that it served last', async () => {
    const process = { room: 0 };
    const { taker } = bench(process);
    const events = await emit(3);
    organizationId = await insertOrganization(db);
    await insertWebhook(db, { organizationId });
    events.push(...(await emit(3)));
    expect(await taker.takeEvents(events)).toBe('no_room');
    process.room = 1;
    const ahead: number[] = [];
    while ((await taker.takeOverdue()) !== 'saw_all') {
      const rows = await db.selectFrom('deliveries').select('organization_id').execute();
      const second = rows.filter((row) => row.organization_id === organizationId).length;
      ahead.push(rows.length - 2 * second);
    }
    expect(await outboxSize()).toBe(0);
    // In turn: none is ever ahead of the other by more than one.
    expect(Math.max(...ahead.map(Math.abs))).toBe(1);
  });
});

it('has the relay take young events too when jobs come with what is overdue and gone', async () => {
  const { taker, left, pass } = bench({ room: 10 });
  const gone = await emit(2);
  expect(await taker.takeEvents(gone)).toBe(2);
  // Twice the same job, a moment apart, is nothing: the queue delivers at least once.
  expect([await taker.takeEvents(gone), left()]).toEqual([0, 0]);
  await emit(1);
  pass(5_500);
  expect([await taker.takeEvents(gone), left()]).toEqual([0, 1]);
  expect(await taker.takeOverdue()).toBe('go_on');
  expect(await outboxSize()).toBe(0);
});

it('goes on after a take that failed', async () => {
  const process = { room: 10 };
  const { taker } = bench(process);
  const ids = await emit(2);
  await expect(taker.takeEvents(['not a uuid'])).rejects.toThrow('uuid');
  expect(await taker.takeEvents(ids)).toBe(2);
});
