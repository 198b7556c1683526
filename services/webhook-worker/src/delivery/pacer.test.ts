import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
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

it('starts what can wait behind what cannot, a share of its line at a time', async () => {
  const pace = createPacer();
  const started: string[] = [];
  for (let n = 0; n < 30; n++) pace(() => started.push('retry'), true);
  for (let n = 0; n < 4; n++) pace(() => started.push('first'), false);
  const together: number[] = [];
  while (started.length < 34) {
    const before = started.length;
    await turn();
    if (started.length > before) together.push(started.length - before);
  }
  expect(started.slice(0, 4)).toEqual(['first', 'first', 'first', 'first']);
  expect(Math.max(...together)).toBeLessThanOrEqual(2);
});

it('is through with a long line soon', async () => {
  const pace = createPacer();
  let started = 0;
  for (let n = 0; n < 1_000; n++) pace(() => (started += 1), true);
  const startedAt = performance.now();
  while (started < 1_000) await pause(5);
  // Half a second on a machine with nothing else to do.
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});
