import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { createPacer } from './connect-rate-limiter.ts';

it('starts what comes together over several turns of the event loop, in its order', async () => {
  const pace = createPacer();
  const started: number[] = [];
  for (let n = 0; n < 5; n++) pace(() => started.push(n) > 0, false);
  expect(started).toEqual([]);
  const perTurn: number[] = [];
  while (started.length < 5) {
    const before = started.length;
    await turn();
    perTurn.push(started.length - before);
  }
  expect(started).toEqual([0, 1, 2, 3, 4]);
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(2);
  pace(() => started.push(5) > 0, false);
  await turn();
  expect(started).toContain(5);
});

it('starts what can wait one at a time, many a few at a time, and lets what cannot pass', () => {
  const turns: (() => void)[] = [];
  const later: (() => void)[] = [];
  const pace = createPacer({ turn: (run) => turns.push(run), later: (run) => later.push(run) });
  const started: string[] = [];
  for (let n = 0; n < 1_000; n++) pace(() => started.push('slow') > 0, true);
  for (let n = 0; n < 4; n++) pace(() => started.push('first') > 0, false);
  while (turns.length > 0) turns.shift()?.();
  expect(started).toEqual(['first', 'first', 'first', 'first']);
  const together: number[] = [];
  while (later.length > 0) {
    const before = started.length;
    later.shift()?.();
    together.push(started.length - before);
  }
  expect(started).toHaveLength(1_004);
  expect(together[0]).toBe(5);
  expect(together.slice(-199)).toEqual(Array.from({ length: 199 }, () => 1));
  // At 15 ms each: a thousand are through in seven seconds.
  expect(together.length).toBeLessThan(467);
});

it('has a thousand of them started in some dozens of turns, which are long in a busy process', () => {
  const turns: (() => void)[] = [];
  const pace = createPacer({ turn: (run) => turns.push(run), later: () => undefined });
  const started: number[] = [];
  for (let n = 0; n < 1_000; n++) pace(() => started.push(n) > 0, false);
  let count = 0;
  while (turns.length > 0) {
    turns.shift()?.();
    count += 1;
  }
  expect(started).toHaveLength(1_000);
  expect(count).toBeLessThan(60);
});

it('gives nobody’s turn to what is not wanted any more', () => {
  const later: (() => void)[] = [];
  const pace = createPacer({ turn: () => undefined, later: (run) => later.push(run) });
  const started: string[] = [];
  for (const name of ['gone', 'gone', 'first', 'gone', 'second']) {
    pace(() => name !== 'gone' && started.push(name) > 0, true);
  }
  later.shift()?.();
  expect(started).toEqual(['first']);
  later.shift()?.();
  expect(started).toEqual(['first', 'second']);
  expect(later).toEqual([]);
});
