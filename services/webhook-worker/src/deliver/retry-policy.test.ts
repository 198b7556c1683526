import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { maxRetryAfterMs, nextDelayMs } from './retry-policy.ts';

const delaysMs = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 72_000, 86_400].map((seconds) => seconds * 1_000);
const policy = { delaysMs, jitter: 0.2 };
const perRound = delaysMs.length + 1;

describe('the delay before the next attempt', () => {
  it.each(delaysMs.map((delayMs, index) => [index + 1, delayMs]))('after attempt %d is %d ms', (number, delayMs) => {
    expect(nextDelayMs(policy, { number, maxAttempts: perRound, retryAfterMs: null }, 0)).toBe(delayMs);
  });

  it('does not exist after the last attempt', () => {
    expect(nextDelayMs(policy, { number: 10, maxAttempts: 10, retryAfterMs: null }, 0)).toBeNull();
    expect(nextDelayMs(policy, { number: 10, maxAttempts: 10, retryAfterMs: 60_000 }, 0)).toBeNull();
    expect(nextDelayMs(policy, { number: 1, maxAttempts: 1, retryAfterMs: null }, 0)).toBeNull();
    expect(nextDelayMs({ delaysMs: [], jitter: 0 }, { number: 1, maxAttempts: 1, retryAfterMs: null }, 0)).toBeNull();
  });

  it('starts over in each round', () => {
    const before = 7;
    for (const [index, delayMs] of delaysMs.entries()) {
      const attempt = { number: before + index + 1, maxAttempts: before + perRound, retryAfterMs: null };
      expect(nextDelayMs(policy, attempt, 0)).toBe(delayMs);
    }
  });

  it('is the first or last one where the schedule was changed during the round', () => {
    expect(nextDelayMs({ delaysMs: [5, 9], jitter: 0 }, { number: 1, maxAttempts: 10, retryAfterMs: null }, 0)).toBe(5);
    expect(nextDelayMs({ delaysMs: [5, 9], jitter: 0 }, { number: 9, maxAttempts: 10, retryAfterMs: null }, 0)).toBe(9);
    expect(nextDelayMs({ delaysMs: [5, 7, 9], jitter: 0 }, { number: 1, maxAttempts: 2, retryAfterMs: null }, 0)).toBe(
      9,
    );
  });

  it('is never earlier than its base nor later than base × (1 + jitter)', () => {
    const numbers = fc.integer({ min: 1, max: delaysMs.length });
    fc.assert(
      fc.property(
        numbers,
        fc.integer({ min: 0, max: 50 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (place, before, random) => {
          const attempt = { number: before + place, maxAttempts: before + perRound, retryAfterMs: null };
          const delay = nextDelayMs(policy, attempt, random) ?? Number.NaN;
          const base = delaysMs[place - 1] ?? Number.NaN;
          expect(delay).toBeGreaterThanOrEqual(base);
          expect(delay).toBeLessThanOrEqual(Math.ceil(base * 1.2));
          expect(Number.isInteger(delay)).toBe(true);
        },
      ),
    );
  });

  it('is the Retry-After of the receiver where that is later, to the millisecond, at most 24 h', () => {
    const first = { number: 1, maxAttempts: perRound };
    expect(nextDelayMs(policy, { ...first, retryAfterMs: 60_000 }, 0.9)).toBe(60_000);
    expect(nextDelayMs(policy, { ...first, retryAfterMs: 1_000 }, 0)).toBe(5_000);
    expect(nextDelayMs(policy, { ...first, retryAfterMs: 10 * maxRetryAfterMs }, 0)).toBe(maxRetryAfterMs);
    fc.assert(
      fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (retryAfterMs, random) => {
        const scheduled = nextDelayMs(policy, { ...first, retryAfterMs: null }, random) ?? 0;
        const delay = nextDelayMs(policy, { ...first, retryAfterMs }, random);
        expect(delay).toBe(Math.max(scheduled, Math.min(retryAfterMs, maxRetryAfterMs)));
      }),
    );
  });
});
