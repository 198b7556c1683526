import { expect, it } from '@jest/globals';
import { createWalkStart } from './walk-start.ts';

const margins = { nearMs: 1_000, farMs: 10_000 };
const at = (ms: number) => new Date(1_800_000_000_000 + ms);

function walkStart() {
  let nowMs = 0;
  const start = createWalkStart({ monotonic: () => nowMs }, margins);
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { ...start, pass };
}

it('walks from the beginning every time while that takes next to nothing', () => {
  const { next, note, pass } = walkStart();
  for (let run = 0; run < 5; run++) {
    expect(next()).toBeNull();
    note({ from: null, tookMs: 2, hasFound: false, waitsSince: at(run) });
    pass(250);
  }
});

it('begins where the oldest row waits, less the margin, while a walk from the beginning takes long', () => {
  const { next, note, pass } = walkStart();
  note({ from: null, tookMs: 300, hasFound: false, waitsSince: at(20_000) });
  pass(1_000);
  expect(next()).toEqual(at(10_000));
  note({ from: at(10_000), tookMs: 3, hasFound: false, waitsSince: at(21_000) });
  pass(1_000);
  expect(next()).toEqual(at(11_000));
});

it('has the far margin every half second, and the near one in between', () => {
  const { next, note, pass } = walkStart();
  note({ from: null, tookMs: 3_000, hasFound: false, waitsSince: at(20_000) });
  const starts: unknown[] = [];
  for (let run = 0; run < 5; run++) {
    pass(250);
    const from = next();
    starts.push(from);
    note({ from, tookMs: 3, hasFound: false, waitsSince: at(20_000) });
  }
  const [near, far] = [at(19_000), at(10_000)];
  expect(starts).toEqual([near, far, near, far, near]);
});

it('begins where it did before when a walk found no more than that', () => {
  const { next, note, pass } = walkStart();
  note({ from: null, tookMs: 3_000, hasFound: false, waitsSince: at(20_000) });
  pass(1_000);
  note({ from: next(), tookMs: 3, hasFound: false, waitsSince: undefined });
  pass(1_000);
  expect(next()).toEqual(at(10_000));
});

it('walks from the beginning again after twenty times what it took, and after a minute at the latest', () => {
  const { next, note, pass } = walkStart();
  note({ from: null, tookMs: 300, hasFound: false, waitsSince: at(0) });
  pass(5_999);
  expect(next()).not.toBeNull();
  pass(1);
  expect(next()).toBeNull();
  note({ from: null, tookMs: 30_000, hasFound: false, waitsSince: at(0) });
  pass(59_999);
  expect(next()).not.toBeNull();
  pass(1);
  expect(next()).toBeNull();
});

it('walks from the beginning when the last walk did not come to the end of what waits', () => {
  const { next, note } = walkStart();
  note({ from: null, tookMs: 300, hasFound: false, waitsSince: at(0) });
  expect(next()).not.toBeNull();
  note({ from: next(), tookMs: 3, hasFound: false, waitsSince: null });
  expect(next()).toBeNull();
});

it('walks from the beginning ever more rarely while that stays dear beside the other walks, and as before when it no longer is', () => {
  const start = walkStart();
  start.note({ from: null, tookMs: 40, hasFound: false, waitsSince: at(0) });
  const restMs = (otherMs: number) => {
    let passed = 0;
    for (; start.next() !== null; passed += 100) {
      start.note({ from: start.next(), tookMs: otherMs, hasFound: false, waitsSince: at(0) });
      start.pass(100);
    }
    start.note({ from: null, tookMs: 40, hasFound: false, waitsSince: at(0) });
    return passed;
  };
  expect(Array.from({ length: 6 }, () => restMs(8))).toEqual([800, 3_200, 12_800, 51_200, 60_000, 60_000]);
  // The next rest was decided before.
  expect([restMs(9), restMs(9)]).toEqual([60_000, 800]);
});

it('walks from the beginning no more rarely because of what was done with the rows that it found', () => {
  const { next, note, pass } = walkStart();
  for (let run = 0; run < 4; run++) {
    note({ from: null, tookMs: 5_000, hasFound: true, waitsSince: at(0) });
    note({ from: at(0), tookMs: 3, hasFound: false, waitsSince: at(0) });
    pass(1_999);
    expect(next()).not.toBeNull();
    pass(1);
    expect(next()).toBeNull();
  }
});
