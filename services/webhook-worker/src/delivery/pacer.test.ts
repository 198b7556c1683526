import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { createPacer } from './pacer.ts';

it('starts what comes together over several turns of the event loop, in its order', async () => {
  const pace = createPacer();
  const started: number[] = [];
  for (let n = 0; n < 5; n++) pace(() => started.push(n), false);
  expect(started).toEqual([]);
  const perTurn: number[] = [];
  while (started.length < 5) {
    const before = started.length;
    await turn();
    perTurn.push(started.length - before);
  }
  expect(started).toEqual([0, 1, 2, 3, 4]);
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(2);
  pace(() => started.push(5), false);
  await turn();
  expect(started).toContain(5);
});

it('starts what can wait a share at a time, and lets what cannot pass', () => {
  const turns: (() => void)[] = [];
  const later: (() => void)[] = [];
  const pace = createPacer({ turn: (run) => turns.push(run), later: (run) => later.push(run) });
  const started: string[] = [];
  for (let n = 0; n < 100; n++) pace(() => started.push('retry'), true);
  for (let n = 0; n < 4; n++) pace(() => started.push('first'), false);
  while (turns.length > 0) turns.shift()?.();
  expect(started).toEqual(['first', 'first', 'first', 'first']);
  const together: number[] = [];
  while (later.length > 0) {
    const before = started.length;
    later.shift()?.();
    together.push(started.length - before);
  }
  expect(started).toHaveLength(104);
  expect(together[0]).toBe(5);
  expect(together.at(-1)).toBe(1);
  // At 5 ms each: a long line is through in half a second.
  expect(together.length).toBeLessThan(100);
});

it('has a thousand of them started in some dozens of turns, which are long in a busy process', () => {
  const turns: (() => void)[] = [];
  const pace = createPacer({ turn: (run) => turns.push(run), later: () => undefined });
  const started: number[] = [];
  for (let n = 0; n < 1_000; n++) pace(() => started.push(n), false);
  let count = 0;
  while (turns.length > 0) {
    turns.shift()?.();
    count += 1;
  }
  expect(started).toHaveLength(1_000);
  expect(count).toBeLessThan(60);
});
