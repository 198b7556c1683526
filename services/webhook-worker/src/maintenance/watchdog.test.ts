import { createLogger, type Loop } from '@enterprise-api/shared/runtime';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createWatchdog } from './watchdog.ts';

const watchdogs: Loop[] = [];
beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(async () => {
  for (const watchdog of watchdogs.splice(0)) await watchdog.stop();
  jest.useRealTimers();
});

function watch(waitingJobs: () => Promise<number>, queue = 'events') {
  const state = { running: 0, lastAt: 0, isPaused: false, recreated: 0, reasons: [] as string[] };
  const now = () => performance.now();
  const watchdog = createWatchdog({
    clock: { now, monotonic: now },
    log: createLogger('test', 'silent'),
    consumer: {
      queue,
      waitingJobs,
      isPaused: async () => state.isPaused,
      activity: () => state,
      recreate: async () => {
        state.recreated += 1;
      },
    },
    giveUp: (reason) => state.reasons.push(reason.message),
  });
  watchdogs.push(watchdog);
  watchdog.start();
  return state;
}

describe('the watchdog of the queue workers', () => {
  it('recreates the workers when jobs wait and none arrives for 20 s, and gives up when that does not help', async () => {
    const state = watch(async () => 3);
    await jest.advanceTimersByTimeAsync(18_000);
    expect(state.recreated).toBe(0);
    await jest.advanceTimersByTimeAsync(12_000);
    expect([state.recreated, state.reasons]).toEqual([1, []]);
    await jest.advanceTimersByTimeAsync(30_000);
    expect(state.recreated).toBe(1);
    expect(state.reasons[0]).toContain('3 jobs wait');
  });

  it('keeps workers that get jobs, are busy with one, or have none to get', async () => {
    let waiting = 0;
    const state = watch(async () => waiting);
    await jest.advanceTimersByTimeAsync(60_000);
    waiting = 100;
    for (let second = 0; second < 60; second++) {
      await jest.advanceTimersByTimeAsync(1_000);
      state.lastAt = performance.now();
    }
    state.running = 1;
    await jest.advanceTimersByTimeAsync(60_000);
    expect([state.recreated, state.reasons]).toEqual([0, []]);
  });

  it('watches each queue by itself: one that is busy does not hide a stalled consumer of another', async () => {
    const busy = watch(async () => 5);
    busy.running = 1;
    const stalled = watch(async () => 2, 'event-writes');
    await jest.advanceTimersByTimeAsync(25_000);
    expect([busy.recreated, stalled.recreated, stalled.reasons]).toEqual([0, 1, []]);
    await jest.advanceTimersByTimeAsync(30_000);
    expect(busy.reasons).toEqual([]);
    expect(stalled.reasons[0]).toContain('queue event-writes is stalled, also with new workers: 2 jobs wait');
  });

  it('does not count the jobs of a paused queue, and counts anew once it is resumed', async () => {
    const state = watch(async () => 3);
    state.isPaused = true;
    await jest.advanceTimersByTimeAsync(120_000);
    expect([state.recreated, state.reasons]).toEqual([0, []]);
    state.isPaused = false;
    await jest.advanceTimersByTimeAsync(18_000);
    expect(state.recreated).toBe(0);
    await jest.advanceTimersByTimeAsync(12_000);
    expect(state.recreated).toBe(1);
  });

  it('does not count the jobs of a queue that does not answer', async () => {
    const state = watch(async () => {
      throw new Error('away');
    });
    await jest.advanceTimersByTimeAsync(120_000);
    expect([state.recreated, state.reasons]).toEqual([0, []]);
  });
});
