import { setTimeout as pause } from 'node:timers/promises';
import { type Database, ledgerGauges, readGauges } from '@enterprise-api/shared/ledger';
import { insertOrganization, insertWebhook, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { fanOutOf } from '../testing/fan-out.ts';
import { emitEvents } from '../testing/ledger.ts';

let db: Database;
let close: () => Promise<void>;
let organizationId: string;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
  await sql`create table poison (event_id uuid primary key, state text not null)`.execute(db);
  await sql`create function refuse_poison() returns trigger language plpgsql as $$
    declare refusal text := (select state from poison where event_id = new.event_id);
    begin
      if refusal is not null then raise exception using errcode = refusal, message = 'a value of the row'; end if;
      return new;
    end $$`.execute(db);
  await sql`create trigger refuse_poison before insert on deliveries for each row execute function refuse_poison()`.execute(
    db,
  );
});
afterAll(() => close());
beforeEach(async () => {
  await sql`truncate deliveries, pending_deliveries, outbox, parked_events, poison`.execute(db);
  organizationId = await insertOrganization(db);
  await insertWebhook(db, { organizationId });
});

/** Overdue events, some of which PostgreSQL refuses with an error of this state. */
async function emitOverdue(count: number, poisoned: readonly number[], state = '23514'): Promise<string[]> {
  const ids = await emitEvents(db, organizationId, count);
  await sql`update webhooks set created_at = clock_timestamp() - interval '1 hour'`.execute(db);
  await sql`update outbox set created_at = clock_timestamp() - interval '3 seconds'`.execute(db);
  for (const index of poisoned) await sql`insert into poison values (${ids[index]}, ${state})`.execute(db);
  return ids;
}

async function ledger() {
  const column = async (table: 'outbox' | 'parked_events' | 'deliveries') =>
    (await db.selectFrom(table).select('event_id').orderBy('event_id').execute()).map(({ event_id }) => event_id);
  return {
    outbox: await column('outbox'),
    parked: await column('parked_events'),
    delivered: await column('deliveries'),
  };
}

const makeDue = () => sql`update parked_events set retry_at = clock_timestamp()`.execute(db);
const retryDelays = async () =>
  (
    await sql<{ seconds: number }>`select round(extract(epoch from retry_at - clock_timestamp()))::int as seconds
      from parked_events order by event_id`.execute(db)
  ).rows.map(({ seconds }) => seconds);

describe('an event whose deliveries PostgreSQL refuses', () => {
  it('is parked with its reason, and holds up no other event of its page', async () => {
    const ids = await emitOverdue(20, [0, 7, 19]);
    const { fanOut, parked } = fanOutOf(db, { free: 100 });
    expect(await fanOut.fanOutOverdue()).toBe('again');
    expect(await fanOut.fanOutOverdue()).toBe('all_visited');
    const poisoned = ids.filter((_, index) => [0, 7, 19].includes(index)).sort();
    const delivered = ids.filter((id) => !poisoned.includes(id)).sort();
    expect(await ledger()).toEqual({ outbox: [], parked: poisoned, delivered });
    expect(parked.map(({ event_id, reason, failures }) => [event_id, reason, failures]).sort()).toEqual(
      poisoned.map((id) => [id, '23514', 1]),
    );
    expect(await readGauges(db, ledgerGauges.parked)).toEqual({ events: 3 });
  });

  it('is parked when no partition takes its deliveries: the reason names the table, and no value', async () => {
    const [id] = await emitOverdue(2, []);
    // A UUID of the year 1970: no partition reaches back so far.
    const old = `00000000-0000-7000-8000-${id?.slice(24)}`;
    await sql`update outbox set event_id = ${old} where event_id = ${id}`.execute(db);
    await sql`create table old_events partition of events for values from (minvalue) to ('00000001-0000-0000-0000-000000000000')`.execute(
      db,
    );
    await sql`update events set id = ${old} where id = ${id}`.execute(db);
    const { fanOut, parked } = fanOutOf(db, { free: 100 });
    await fanOut.fanOutOverdue();
    expect(parked).toMatchObject([{ event_id: old, reason: expect.stringMatching(/^23514 deliveries/) }]);
    expect((await ledger()).delivered).toHaveLength(1);
  });

  it('is tried again a minute later, then after twice as long each time, at most ten minutes', async () => {
    await emitOverdue(1, [0], 'P0001');
    const { fanOut, parked } = fanOutOf(db, { free: 100 });
    await fanOut.fanOutOverdue();
    const delays = [];
    for (let failure = 1; failure <= 6; failure += 1) {
      delays.push(...(await retryDelays()));
      await fanOut.retryParkedEvents();
      expect(parked).toHaveLength(failure);
      await makeDue();
      await fanOut.retryParkedEvents();
    }
    expect(delays).toEqual([60, 120, 240, 480, 600, 600]);
    expect(parked.map(({ failures }) => failures)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('is delivered once the cause is gone, and so are all others at once', async () => {
    const ids = await emitOverdue(3, [0, 1, 2]);
    const { fanOut } = fanOutOf(db, { free: 100 });
    await fanOut.fanOutOverdue();
    await sql`truncate poison`.execute(db);
    await sql`update parked_events set retry_at = clock_timestamp() where event_id = ${ids[1]}`.execute(db);
    await fanOut.retryParkedEvents();
    expect((await ledger()).delivered).toEqual([ids[1]]);
    await fanOut.retryParkedEvents();
    expect(await ledger()).toEqual({ outbox: [], parked: [], delivered: [...ids].sort() });
  });

  it('is not lost when two processes find it at once', async () => {
    const ids = await emitOverdue(10, [4]);
    const processes = [1, 2].map(() => fanOutOf(db, { free: 100 }).fanOut);
    await Promise.all(processes.map((process) => process.fanOutOverdue()));
    while ((await processes[0]?.fanOutOverdue()) !== 'all_visited') await pause(1);
    expect(await ledger()).toEqual({
      outbox: [],
      parked: [ids[4]],
      delivered: ids.filter((_, index) => index !== 4).sort(),
    });
    await sql`truncate poison`.execute(db);
    await makeDue();
    await Promise.all(processes.map((process) => process.retryParkedEvents()));
    expect(await ledger()).toEqual({ outbox: [], parked: [], delivered: [...ids].sort() });
  });
});

it.each(['57014', '53100', '40001', '08006', '42501'])('an error of state %s parks nothing', async (state) => {
  const ids = await emitOverdue(3, [1], state);
  const { fanOut } = fanOutOf(db, { free: 100 });
  await expect(fanOut.fanOutOverdue()).rejects.toThrow('a value of the row');
  expect(await ledger()).toEqual({ outbox: [...ids].sort(), parked: [], delivered: [] });
});
