import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { type ConnectRateLimiter, createConnectRateLimiter } from './connect-rate-limiter.ts';

/** Asks for a permit, and does something at the moment when it would be granted. */
function whenGranted(permit: ConnectRateLimiter, start: () => boolean, lowPriority: boolean): void {
  void permit(lowPriority, start);
}

it('grants permits over several turns of the event loop, in the order in which they were asked for', async () => {
  const permit = createConnectRateLimiter();
  const started: number[] = [];
  for (let n = 0; n < 5; n++) whenGranted(permit, () => started.push(n) > 0, false);
  expect(started).toEqual([]);
  const perTurn: number[] = [];
  while (started.length < 5) {
    const before = started.length;
    await turn();
    perTurn.push(started.length - before);
  }
  expect(started).toEqual([0, 1, 2, 3, 4]);
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(2);
  whenGranted(permit, () => started.push(5) > 0, false);
  await turn();
  expect(started).toContain(5);
});

it('grants permits of low priority one at a time, a few at a time of a long queue, and the others before them', () => {
  const turns: (() => void)[] = [];
  const later: (() => void)[] = [];
  const permit = createConnectRateLimiter({ turn: (run) => turns.push(run), later: (run) => later.push(run) });
  const started: string[] = [];
  for (let n = 0; n < 1_000; n++) whenGranted(permit, () => started.push('slow') > 0, true);
  for (let n = 0; n < 4; n++) whenGranted(permit, () => started.push('first') > 0, false);
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
  // At 15 ms each, a thousand permits take seven seconds.
  expect(together.length).toBeLessThan(467);
});

it('grants a thousand permits within some dozens of turns, which are long in a busy process', () => {
  const turns: (() => void)[] = [];
  const permit = createConnectRateLimiter({ turn: (run) => turns.push(run), later: () => undefined });
  const started: number[] = [];
  for (let n = 0; n < 1_000; n++) whenGranted(permit, () => started.push(n) > 0, false);
  let count = 0;
  while (turns.length > 0) {
    turns.shift()?.();
    count += 1;
  }
  expect(started).toHaveLength(1_000);
  expect(count).toBeLessThan(60);
});

it('spends no permit on a connection that is no longer wanted, and says which ones were granted', async () => {
  const later: (() => void)[] = [];
  const permit = createConnectRateLimiter({ turn: () => undefined, later: (run) => later.push(run) });
  const started: string[] = [];
  const granted = ['gone', 'gone', 'first', 'gone', 'second'].map((name) =>
    permit(true, () => name !== 'gone' && started.push(name) > 0),
  );
  later.shift()?.();
  expect(started).toEqual(['first']);
  later.shift()?.();
  expect(started).toEqual(['first', 'second']);
  expect(later).toEqual([]);
  expect(await Promise.all(granted)).toEqual([false, false, true, false, true]);
});
