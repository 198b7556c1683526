import { describe, expect, it } from '@jest/globals';
import { createLoop } from './loop.ts';

const hour = 3_600_000;

/** A loop whose runs end when the test says so, and wait for an hour after each. */
function controlled() {
  const started: PromiseWithResolvers<number>[] = [];
  const errors: unknown[] = [];
  const loop = createLoop({
    run: () => {
      const run = Promise.withResolvers<number>();
      started.push(run);
      return run.promise;
    },
    onError: (error) => errors.push(error),
    everyMs: hour,
  });
  const untilRuns = async (count: number) => {
    while (started.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  return { loop, started, errors, untilRuns };
}

describe('a loop', () => {
  it('runs once more, and never twice at once, however often it is woken during a run', async () => {
    const { loop, started, untilRuns } = controlled();
    loop.start();
    await untilRuns(1);
    for (let call = 0; call < 3; call++) loop.wake();
    expect(started).toHaveLength(1);
    started[0]?.resolve(hour);
    await untilRuns(2);
    const stopped = loop.stop();
    started[1]?.resolve(hour);
    await stopped;
    expect(started).toHaveLength(2);
  });

  it('can be woken while it waits, and goes on after a run that failed', async () => {
    const { loop, started, errors, untilRuns } = controlled();
    loop.start();
    await untilRuns(1);
    started[0]?.reject(new Error('no database'));
    while (errors.length === 0) await new Promise((resolve) => setImmediate(resolve));
    loop.wake();
    await untilRuns(2);
    const stopped = loop.stop();
    started[1]?.resolve(hour);
    await stopped;
    expect(errors).toEqual([new Error('no database')]);
  });

  it('does not run before it starts nor after it was stopped', async () => {
    const { loop, started } = controlled();
    loop.wake();
    loop.start();
    await loop.stop();
    loop.wake();
    // A timer of ours that is set later fires later than any of the loop's.
    await new Promise((resolve) => setTimeout(resolve, 2));
    expect(started).toHaveLength(0);
  });
});

it('a loop with a floor is woken no sooner than that after its last run began', async () => {
  const begun: number[] = [];
  const loop = createLoop({
    run: async () => {
      begun.push(performance.now());
      return hour;
    },
    onError: () => undefined,
    everyMs: hour,
    wakeFloorMs: 60,
    random: () => 0.5,
  });
  loop.start();
  while (begun.length < 4) {
    loop.wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await loop.stop();
  const gaps = begun.slice(1).map((at, index) => at - (begun[index] ?? 0));
  // Node.js rounds a timer to whole milliseconds, and the clocks of timer and test differ a little. Without a floor: 0.
  expect(Math.min(...gaps)).toBeGreaterThan(50);
});
