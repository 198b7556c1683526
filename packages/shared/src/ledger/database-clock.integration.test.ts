import { openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Database } from './database.ts';
import { createDatabaseClock, type DatabaseClock, databaseTime } from './index.ts';

let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

const tenMinutes = 600_000;
let wallMs: number;
let monotonicMs: number;
let clock: DatabaseClock;
beforeEach(() => {
  wallMs = Date.now() + tenMinutes;
  monotonicMs = 0;
  clock = createDatabaseClock({ now: () => wallMs, monotonic: () => monotonicMs });
});

const distanceMs = async (nowMs: number) => Math.abs(nowMs - (await databaseTime(db)).getTime());

describe("the database's clock", () => {
  it("is the machine's wall clock until it is measured", () => {
    expect(clock.now()).toBe(wallMs);
    expect(clock.offsetMs()).toBe(0);
  });

  it('is right on a machine whose wall clock is ten minutes off, and says how far off', async () => {
    await clock.measure(db);
    expect(await distanceMs(clock.now())).toBeLessThan(5_000);
    expect(Math.abs(clock.offsetMs() - tenMinutes)).toBeLessThan(5_000);
  });

  it('goes on by the monotonic clock when the wall clock jumps', async () => {
    await clock.measure(db);
    const before = clock.now();
    wallMs -= 20 * tenMinutes;
    monotonicMs += 1_500;
    expect(clock.now()).toBe(before + 1_500);
    expect(Math.abs(clock.offsetMs() + 19 * tenMinutes + 1_500)).toBeLessThan(5_000);
  });

  it('keeps its last measurement while the database is away', async () => {
    await clock.measure(db);
    const before = clock.now();
    const away = await openTestDatabase();
    await away.close();
    await expect(clock.measure(away.db)).rejects.toThrow('does not exist');
    expect(clock.now()).toBe(before);
  });

  it('is read in the middle of the round trip, and a slow round trip does not replace a measurement', async () => {
    const roundTripMs = 100_000;
    const slow = createDatabaseClock({
      now: () => wallMs,
      monotonic: () => {
        monotonicMs += roundTripMs;
        return monotonicMs;
      },
    });
    await slow.measure(db);
    // Read one step after the answer, which is one and a half steps after the middle.
    const first = slow.now();
    expect(await distanceMs(first - 1.5 * roundTripMs)).toBeLessThan(5_000);
    const before = slow.now();
    await slow.measure(db);
    expect(slow.now() - before).toBe(3 * roundTripMs);
  });

  it('is measured again by those that ask for it after a minute, and not before', async () => {
    await clock.current(db);
    const before = clock.now();
    monotonicMs += 59_000;
    expect(await clock.current(db)).toBe(before + 59_000);
    monotonicMs += 2_000;
    // The database did not wait for this clock: measured anew, it is a minute behind.
    expect(await clock.current(db)).toBeLessThan(before + 30_000);
  });
});
