import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { OverdueTake } from './fan-out.ts';
import { createRelay } from './relay.ts';

/** A relay whose takes end as told; each is awaited by its number. */
function bench(ends: OverdueTake[]) {
  let runs = 0;
  const seen = Array.from({ length: ends.length }, () => Promise.withResolvers<void>());
  const relay = createRelay({
    taker: {
      takeOverdue: async () => {
        const end = ends[runs];
        if (end === undefined) throw new Error('one run more than a test expects');
        seen[runs]?.resolve();
        runs += 1;
        return end;
      },
    },
    mayTake: () => true,
    onError: () => undefined,
  });
  return { relay, runs: () => runs, run: (number: number) => seen[number - 1]?.promise };
}

it('runs again at once while there is anything', async () => {
  const { relay, run, runs } = bench(['go_on', 'go_on', 'saw_all']);
  relay.start();
  await run(3);
  await relay.stop();
  expect(runs()).toBe(3);
});

it('is woken by room when it waits for room, and not otherwise', async () => {
  const { relay, run, runs } = bench(['no_room', 'saw_all']);
  relay.start();
  await run(1);
  await new Promise(setImmediate);
  relay.hasRoom();
  // Long before it would look by itself; timers that are late together still fire in their order.
  const first = await Promise.race([run(2)?.then(() => 'woken'), pause(50, 'not woken')]);
  expect(first).toBe('woken');
  await new Promise(setImmediate);
  relay.hasRoom();
  await pause(20);
  expect(runs()).toBe(2);
  await relay.stop();
});

it('looks for room by itself, should nobody say a word', async () => {
  const { relay, run, runs } = bench(['no_room', 'no_room', 'saw_all']);
  relay.start();
  await run(3);
  await relay.stop();
  expect(runs()).toBe(3);
});
