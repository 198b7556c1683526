import { describe, expect, it } from '@jest/globals';
import { createFailureLimit } from './authenticate.ts';

function limitOf(perMinute: number) {
  const time = { ms: 0 };
  return { time, limit: createFailureLimit(perMinute, { monotonic: () => time.ms }) };
}

describe('the limit of failed authentications', () => {
  it('allows its number of failures, then blocks the address until the minute ends', () => {
    const { limit, time } = limitOf(3);
    expect([1, 2, 3].map(() => limit.count('a'))).toEqual([null, null, null]);
    time.ms = 20_000;
    expect(limit.blocked('a')).toBe(40);
    expect(limit.count('a')).toBe(40);
    time.ms = 60_000;
    expect(limit.blocked('a')).toBeNull();
    expect(limit.count('a')).toBeNull();
  });

  it('counts each address by itself', () => {
    const { limit } = limitOf(1);
    limit.count('a');
    expect(limit.blocked('a')).not.toBeNull();
    expect(limit.blocked('b')).toBeNull();
  });

  it('drops the oldest address at its maximum size', () => {
    const { limit } = limitOf(1);
    limit.count('oldest');
    for (let index = 0; index < 50_000; index++) limit.count(`address ${index}`);
    expect(limit.blocked('oldest')).toBeNull();
    expect(limit.blocked('address 49999')).not.toBeNull();
  });
});
