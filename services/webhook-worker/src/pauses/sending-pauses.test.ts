import { newUuid, nilUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { until } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { schedulerBench } from '../testing/scheduler-bench.ts';
import { SendingPauses } from './sending-pauses.ts';

/** Pauses that a test sets, and what they told of changes. */
function pausesOf(initial: Uuid[] = []) {
  const ledger = { paused: initial, fails: false, reads: 0 };
  const told: string[] = [];
  const pauses = new SendingPauses({
    read: async () => {
      ledger.reads += 1;
      if (ledger.fails) throw new Error('no database');
      return ledger.paused;
    },
    onError: () => undefined,
  });
  pauses.connect({ paused: () => void told.push('paused'), resumed: () => void told.push('resumed') });
  return { pauses, ledger, told };
}

describe('the pauses that a worker knows', () => {
  it('tell what begins and what ends, of all and of each organization by itself', async () => {
    const [a, b] = [newUuid(), newUuid()];
    const { pauses, ledger, told } = pausesOf([a]);
    await pauses.load();
    expect([pauses.isAllPaused, pauses.isPaused(a), pauses.isPaused(b)]).toEqual([false, true, false]);
    ledger.paused = [a, nilUuid];
    await pauses.load();
    expect([pauses.isAllPaused, pauses.isPaused(b)]).toEqual([true, true]);
    expect(pauses.organizationIds).toEqual([a]);
    // Everybody is resumed: the organization that was paused by itself still is.
    ledger.paused = [a];
    await pauses.load();
    expect([pauses.isPaused(a), pauses.isPaused(b)]).toEqual([true, false]);
    ledger.paused = [b];
    await pauses.load();
    expect(told).toEqual(['paused', 'paused', 'resumed', 'paused', 'resumed']);
  });

  it('stay as they are while the ledger does not answer', async () => {
    const { pauses, ledger } = pausesOf([nilUuid]);
    await pauses.load();
    ledger.fails = true;
    await expect(pauses.load()).rejects.toThrow('no database');
    expect(pauses.isAllPaused).toBe(true);
  });

  it('are read again without a notification', async () => {
    const { pauses, ledger } = pausesOf();
    pauses.start();
    await until('the first reading', () => ledger.reads > 0);
    ledger.paused = [nilUuid];
    await until('the pause', () => pauses.isAllPaused, { withinMs: 20_000 });
    await pauses.stop();
  });
});

describe('a scheduler while an operator pauses sending', () => {
  const paused = new Set<string>();
  const state = { isAllPaused: false };
  const pauses = {
    get isAllPaused() {
      return state.isAllPaused;
    },
    organizationIds: [],
    isPaused: (id: string) => state.isAllPaused || paused.has(id),
  };

  it('releases what waits and what comes, of the paused organization only, and lets attempts under way end', async () => {
    const { scheduler, leases, started, released, running } = schedulerBench({ pauses });
    const [ours, theirs] = [
      leases('ours', 5),
      leases('theirs', 5).map((each) => ({ ...each, organizationId: newUuid() })),
    ];
    scheduler.accept([...ours, ...theirs]);
    expect([started('ours'), started('theirs')]).toEqual([3, 3]);
    paused.add(ours[0]?.organizationId ?? '');
    scheduler.releasePaused();
    expect(released).toEqual(ours.slice(3));
    scheduler.accept(leases('ours', 1));
    expect(released).toHaveLength(3);
    for (const attempt of running()) await attempt.end();
    expect([started('ours'), started('theirs')]).toEqual([3, 5]);
    paused.clear();
  });

  it('offers no capacity for leases and holds up no fan-out while all sending is paused', () => {
    const { scheduler } = schedulerBench({ pauses });
    state.isAllPaused = true;
    expect([scheduler.capacity('due').total, scheduler.freeCapacity()]).toEqual([0, Number.POSITIVE_INFINITY]);
    scheduler.noteDueRows([newUuid()]);
    expect(scheduler.figures.queues).toBe(0);
    state.isAllPaused = false;
    expect(scheduler.capacity('due').total).toBeGreaterThan(0);
  });
});
