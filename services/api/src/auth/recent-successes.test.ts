import { describe, expect, it } from '@jest/globals';
import { createRecentSuccesses } from './authenticate.ts';

function successesAt() {
  const time = { ms: 0 };
  return { time, successes: createRecentSuccesses({ monotonic: () => time.ms }) };
}

describe('recent successes', () => {
  it('are remembered for an hour after the latest one, and forgotten a minute later', () => {
    const { successes, time } = successesAt();
    successes.note('a', 'key');
    time.ms = 59_999;
    successes.note('a', 'key');
    time.ms += 3_600_000;
    expect(successes.has('a', 'key')).toBe(true);
    successes.note('a', 'key');
    time.ms += 3_659_999;
    expect(successes.has('a', 'key')).toBe(true);
    time.ms += 1;
    expect(successes.has('a', 'key')).toBe(false);
  });

  it('count for one key from one address', () => {
    const { successes } = successesAt();
    successes.note('a', 'key');
    expect([successes.has('a', 'other'), successes.has('b', 'key')]).toEqual([false, false]);
    successes.forget('a', 'key');
    expect(successes.has('a', 'key')).toBe(false);
  });

  it('are at most 10,000; the oldest is dropped', () => {
    const { successes } = successesAt();
    for (let count = 0; count <= 10_000; count++) successes.note('a', `key ${count}`);
    expect([successes.has('a', 'key 0'), successes.has('a', 'key 1')]).toEqual([false, true]);
  });
});
