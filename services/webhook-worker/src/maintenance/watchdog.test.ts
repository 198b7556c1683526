import type { Loop } from '@enterprise-api/shared/runtime';
import { createLogger } from '@enterprise-api/shared/runtime';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createWatchdog, type WatchedQueue } from './watchdog.ts';

let watchdog: Loop | undefined;
beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(async () => {
  await watchdog?.stop();
  jest.useRealTimers();
});

function bench(waiting: () => Promise<number>, others: Record<string, WatchedQueue> = {}) {
  const state = { running: 0, lastAt: 0, rebuilds: 0, reasons: [] as string[] };
  const now = () => performance.now();
  watchdog = createWatchdog({
    clock: { now, monotonic: now },
    log: createLogger('test', 'silent'),
    queues: { events: { waitingJobs: waiting, activity: () => state }, ...others },
    rebuild: async () => {
      state.rebuilds += 1;
    },
    giveUp: (reason) => state.reasons.push(reason.message),
  });
  watchdog.start();
  return state;
}

describe('the watchdog of the queue workers', () => {
  it('makes new workers when jobs wait and none arrives for 20 s, and ends the process when that does not help', async () => {
    const state = bench(async () => 3);
    await jest.advanceTimersByTimeAsync(18_000);
    expect(state.rebuilds).toBe(0);
    await jest.advanceTimersByTimeAsync(12_000);
    expect([state.rebuilds, state.reasons]).toEqual([1, []]);
    await jest.advanceTimersByTimeAsync(30_000);
    expect(state.rebuilds).toBe(1);
    expect(state.reasons[0]).toContain('3 jobs wait');
  });

  it('leaves workers alone that get jobs, are busy with one, or have none to get', async () => {
    let waiting = 0;
    const state = bench(async () => waiting);
    await jest.advanceTimersByTimeAsync(60_000);
    waiting = 100;
    for (let second = 0; second < 60; second++) {
      await jest.advanceTimersByTimeAsync(1_000);
      state.lastAt = performance.now();
    }
    state.running = 1;
    await jest.advanceTimersByTimeAsync(60_000);
    expect([state.rebuilds, state.reasons]).toEqual([0, []]);
  });

  it('looks at each queue by itself: one that is busy does not hide another that is not heard', async () => {
    const idle = { running: 0, lastAt: 0 };
    const state = bench(async () => 0, { 'event-writes': { waitingJobs: async () => 2, activity: () => idle } });
    state.running = 1;
    await jest.advanceTimersByTimeAsync(25_000);
    expect([state.rebuilds, state.reasons]).toEqual([1, []]);
    await jest.advanceTimersByTimeAsync(30_000);
    expect(state.reasons[0]).toContain('2 jobs wait in the queue event-writes');
  });

  it('does not take a queue that does not answer for one that it fails to hear', async () => {
    const state = bench(async () => {
      throw new Error('away');
    });
    await jest.advanceTimersByTimeAsync(120_000);
    expect([state.rebuilds, state.reasons]).toEqual([0, []]);
  });
});
