import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { createPacer } from './pacer.ts';

it('starts what comes together over several turns of the event loop, in its order', async () => {
  const pace = createPacer();
  const started: number[] = [];
  for (let n = 0; n < 5; n++) pace(() => started.push(n));
  expect(started).toEqual([]);
  const perTurn: number[] = [];
  while (started.length < 5) {
    const before = started.length;
    await turn();
    perTurn.push(started.length - before);
  }
  expect(started).toEqual([0, 1, 2, 3, 4]);
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(2);
  pace(() => started.push(5));
  await turn();
  expect(started).toContain(5);
});
