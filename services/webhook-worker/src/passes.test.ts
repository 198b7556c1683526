import { expect, it } from '@jest/globals';
import { createPasses } from './passes.ts';

const startedAt = Date.parse('2026-11-24T12:00:00Z');

function passes() {
  let now = 0;
  const { begin } = createPasses({ now: () => startedAt + now, monotonic: () => now });
  /** A pass that leaves so much waiting. @returns how many seconds ago it began to look; null for a full pass */
  const pass = (oldestLeftAt: number | null | 'unknown' = null) => {
    const { from, end } = begin();
    end(oldestLeftAt);
    return from === null ? null : (startedAt + now - from.getTime()) / 1_000;
  };
  const wait = (seconds: number) => {
    now += seconds * 1_000;
  };
  return { begin, pass, wait };
}

it('begins at the first row at first and once a minute, and 30 s before the last pass otherwise', () => {
  const { pass, wait } = passes();
  expect(pass()).toBeNull();
  wait(1);
  expect(pass()).toBe(31);
  wait(50);
  expect(pass()).toBe(80);
  wait(9);
  expect(pass()).toBeNull();
});

it('begins at the oldest row that the last pass left', () => {
  const { pass, wait } = passes();
  pass(startedAt - 300_000);
  wait(1);
  expect(pass(startedAt - 10_000)).toBe(301);
  expect(pass()).toBe(30);
});

it('begins at the first row after a pass that did not see all rows, and where it did before after one that failed', () => {
  const { begin, pass, wait } = passes();
  pass();
  wait(1);
  expect(pass('unknown')).toBe(31);
  expect(pass()).toBeNull();
  wait(1);
  expect(begin().from).toEqual(new Date(startedAt - 29_000));
  wait(1);
  expect(pass()).toBe(32);
});
