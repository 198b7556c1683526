import type { Database } from '@enterprise-api/shared/ledger';
import { newUuid, nilUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { openTestDatabase, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { schedulerBench } from '../testing/scheduler-bench.ts';
import { createSendingPauses } from './sending-pauses.ts';

let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

/** Pauses that a test sets, and how often they have told of a change. */
async function pausesOf(initial: Uuid[] = []) {
  const pause = async (organizationIds: Uuid[]) => {
    await db.deleteFrom('sending_pauses').execute();
    for (const organization_id of organizationIds) {
      await db.insertInto('sending_pauses').values({ organization_id }).execute();
    }
  };
  let changes = 0;
  const pauses = createSendingPauses(db, () => undefined);
  pauses.onChange(() => {
    changes += 1;
  });
  await pause(initial);
  return { pauses, pause, changes: () => changes };
}

describe('the pauses that a worker knows', () => {
  it('tell of every change, of all and of each organization by itself', async () => {
    const [a, b] = [newUuid(), newUuid()];
    const { pauses, pause, changes } = await pausesOf([a]);
    await pauses.load();
    expect([pauses.isAllPaused, [...pauses.organizationIds]]).toEqual([false, [a]]);
    await pause([a, nilUuid]);
    await pauses.load();
    expect([pauses.isAllPaused, [...pauses.organizationIds]]).toEqual([true, [a]]);
    // Everybody is resumed: the organization that was paused by itself still is.
    await pause([a]);
    await pauses.load();
    expect([pauses.isAllPaused, [...pauses.organizationIds]]).toEqual([false, [a]]);
    await pause([b]);
    await pauses.load();
    expect(changes()).toBe(4);
    await pauses.load();
    expect(changes()).toBe(4);
  });

  it('stay as they are while the ledger does not answer', async () => {
    const { pauses } = await pausesOf([nilUuid]);
    await pauses.load();
    await sql`alter table sending_pauses rename to away`.execute(db);
    await expect(pauses.load()).rejects.toThrow('sending_pauses');
    await sql`alter table away rename to sending_pauses`.execute(db);
    expect(pauses.isAllPaused).toBe(true);
  });

  it('are read again without a notification', async () => {
    const { pauses, pause, changes } = await pausesOf([newUuid()]);
    pauses.start();
    await until('the first reading', () => changes() > 0);
    await pause([nilUuid]);
    await until('the pause', () => pauses.isAllPaused);
    await pauses.stop();
  });
});

describe('a scheduler while an operator pauses sending', () => {
  const pauses = { isAllPaused: false, organizationIds: new Set<Uuid>() };

  it('releases what waits and what comes, of the paused organization only, and lets attempts under way end', async () => {
    const { scheduler, leases, started, released, running } = schedulerBench({ pauses });
    const [ours, theirs] = [
      leases('ours', 5),
      leases('theirs', 5).map((each) => ({ ...each, organizationId: newUuid() })),
    ];
    scheduler.accept([...ours, ...theirs]);
    expect([started('ours'), started('theirs')]).toEqual([3, 3]);
    pauses.organizationIds.add(ours[0]?.organizationId ?? '');
    scheduler.releasePaused();
    expect(released).toEqual(ours.slice(3));
    scheduler.accept(leases('ours', 1));
    expect(released).toHaveLength(3);
    for (const attempt of running()) await attempt.end();
    expect([started('ours'), started('theirs')]).toEqual([3, 5]);
    expect([scheduler.isHalted(ours[0]?.organizationId ?? ''), scheduler.isHalted('theirs')]).toEqual([true, false]);
    pauses.organizationIds.clear();
    scheduler.stop();
    expect(scheduler.isHalted('theirs')).toBe(true);
  });

  it('offers no capacity for leases and holds up no fan-out while all sending is paused', () => {
    const { scheduler } = schedulerBench({ pauses });
    pauses.isAllPaused = true;
    expect([scheduler.capacity('due').total, scheduler.freeCapacity()]).toEqual([0, Number.POSITIVE_INFINITY]);
    scheduler.noteDueRows([newUuid()]);
    expect(scheduler.figures.queues).toBe(0);
    pauses.isAllPaused = false;
    expect(scheduler.capacity('due').total).toBeGreaterThan(0);
  });
});
