import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@enterprise-api/shared/ledger';
import { expect, it } from '@jest/globals';
import { fanOutOf } from '../testing/fan-out.ts';
import type { OverdueResult } from './fan-out.ts';

/** A relay whose runs end as told; each is awaited by its number. */
function relayWith(ends: OverdueResult[]) {
  let runs = 0;
  const seen = Array.from({ length: ends.length }, () => Promise.withResolvers<void>());
  const { fanOut } = fanOutOf({} as Database, { free: 1 });
  fanOut.fanOutOverdue = async () => {
    const end = ends[runs];
    if (end === undefined) throw new Error('one run more than a test expects');
    seen[runs]?.resolve();
    runs += 1;
    return end;
  };
  const capacityFreed = () => fanOut.capacityFreed();
  return { relay: fanOut.relay, capacityFreed, runs: () => runs, run: (number: number) => seen[number - 1]?.promise };
}

it('runs again at once while there are events', async () => {
  const { relay, run, runs } = relayWith(['again', 'again', 'all_visited']);
  relay.start();
  await run(3);
  await relay.stop();
  expect(runs()).toBe(3);
});

it('runs again by itself after events whose deliveries nobody can send now', async () => {
  const { relay, run, runs } = relayWith(['soon', 'all_visited']);
  relay.start();
  await run(2);
  await relay.stop();
  expect(runs()).toBe(2);
});

it('is woken by free capacity when it waits for capacity, and not otherwise', async () => {
  const { relay, capacityFreed, run, runs } = relayWith(['no_capacity', 'all_visited']);
  relay.start();
  await run(1);
  await new Promise(setImmediate);
  capacityFreed();
  // Long before it would look by itself; timers that are late together still fire in their order.
  const first = await Promise.race([run(2)?.then(() => 'woken'), pause(50, 'not woken')]);
  expect(first).toBe('woken');
  await new Promise(setImmediate);
  capacityFreed();
  await pause(20);
  expect(runs()).toBe(2);
  await relay.stop();
});

it('runs again by itself when it waits for capacity and nothing wakes it', async () => {
  const { relay, run, runs } = relayWith(['no_capacity', 'no_capacity', 'all_visited']);
  relay.start();
  await run(3);
  await relay.stop();
  expect(runs()).toBe(3);
});
