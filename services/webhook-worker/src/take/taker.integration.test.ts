import type { Database } from '@enterprise-api/shared/db';
import {
  insertEvents,
  insertOrganization,
  insertWebhook,
  openTestDatabase,
  testEvent,
} from '@enterprise-api/shared/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { plenty } from '../testing/ledger.ts';
import { createTaker } from './taker.ts';

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

async function emit(count: number): Promise<string[]> {
  const events = Array.from({ length: count }, () => testEvent(organizationId));
  return (await insertEvents(db, events)).map((event) => event.id);
}
const outboxSize = async () => (await db.selectFrom('outbox').select('event_id').execute()).length;
const makeOverdue = () => sql`update outbox set created_at = clock_timestamp() - interval '3 seconds'`.execute(db);

/** A taker in a process that has so much room. Time passes when a test says so. */
function bench(process: { room: number }) {
  let now = 0;
  const accepted: number[] = [];
  const taker = createTaker({
    db,
    clock: { now: () => now, monotonic: () => now },
    lanes: { rooms: () => plenty, room: () => process.room, noteDueRows: () => undefined },
    intake: { accept: async (rows) => void accepted.push(rows.length) },
    settings: { leaseMs: 45_000, maxAttempts: 10 },
    onTaken: () => undefined,
  });
  return {
    taker,
    accepted,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

describe('a process without room', () => {
  it('leaves the events of a job in the outbox, and takes them as soon as it has room, however young they are', async () => {
    const process = { room: 2 };
    const { taker, accepted } = bench(process);
    expect(await taker.takeEvents(await emit(5))).toBe(2);
    expect([await outboxSize(), taker.isOwing]).toEqual([3, true]);
    process.room = 0;
    expect(await taker.takeOverdue()).toBe('no_room');
    expect(await outboxSize()).toBe(3);

    process.room = 2;
    expect(await taker.takeOverdue()).toBe('go_on');
    expect(await taker.takeOverdue()).toBe('go_on');
    expect(await taker.takeOverdue()).toBe('saw_all');
    expect([await outboxSize(), taker.isOwing]).toEqual([0, false]);
    expect(accepted).toEqual([2, 2, 1, 0]);

    await emit(1);
    expect(await taker.takeOverdue()).toBe('saw_all');
    expect(await outboxSize()).toBe(1);
  });

  it('takes what has waited for a second nevertheless: another process may have room', async () => {
    const { taker, pass } = bench({ room: 0 });
    await emit(5);
    await makeOverdue();
    expect(await taker.takeOverdue()).toBe('no_room');
    pass(1_001);
    expect(await taker.takeOverdue()).toBe('go_on');
    expect(await outboxSize()).toBe(0);
    await emit(1);
    await makeOverdue();
    expect(await taker.takeOverdue()).toBe('no_room');
  });

  it('comes back to the organizations before those that it served last', async () => {
    const process = { room: 1 };
    const { taker } = bench(process);
    const events = await emit(3);
    organizationId = await insertOrganization(db);
    await insertWebhook(db, { organizationId });
    events.push(...(await emit(3)));
    process.room = 0;
    expect(await taker.takeEvents(events)).toBe(0);
    process.room = 1;
    const counts: number[] = [];
    while ((await taker.takeOverdue()) !== 'saw_all') counts.push(await outboxSize());
    expect(await outboxSize()).toBe(0);
    // Six events one by one; the rest are ends of walks, on which nothing waits.
    expect(new Set(counts)).toEqual(new Set([5, 4, 3, 2, 1, 0]));
  });
});
