import { describe, expect, it } from '@jest/globals';
import { delayBeforeRepeat, type Failure, mayHaveWorked, type Repeatable } from './repeat.ts';

const limits = { maxRetries: 10, maxRetryAfterMs: 60_000 };
const none = { retryAfterMs: null };
const refused = { status: 429, errorCode: 'rate_limited', ...none };
const delay = (failure: Failure, { failures = 1, repeatable = 'always' as Repeatable, random = 0 } = {}) =>
  delayBeforeRepeat(failure, failures, repeatable, limits, random);

describe('a request that may be made again', () => {
  it.each<[string, Failure]>([
    ['429', { status: 429, ...none }],
    ['502', { status: 502, ...none }],
    ['503', { status: 503, ...none }],
    ['409 idempotency_in_progress', { status: 409, errorCode: 'idempotency_in_progress', ...none }],
    ['a reset connection', { connectionCode: 'ECONNRESET', ...none }],
    ['a refused connection', { connectionCode: 'ECONNREFUSED', ...none }],
    ['a time-out', { connectionCode: 'ETIMEDOUT', ...none }],
  ])('is made again after %s', (_what, failure) => {
    expect(delay(failure)).toBe(500);
  });

  it.each<[string, Failure]>([
    ['400', { status: 400, errorCode: 'validation_failed', ...none }],
    ['409 conflict', { status: 409, errorCode: 'conflict', ...none }],
    ['500', { status: 500, errorCode: 'internal_error', ...none }],
    ['504', { status: 504, errorCode: 'upstream_timeout', ...none }],
    ['an unknown name', { connectionCode: 'ENOTFOUND', ...none }],
    ['an untrusted certificate', { connectionCode: 'DEPTH_ZERO_SELF_SIGNED_CERT', ...none }],
    ['an abort', { connectionCode: 'ERR_ABORTED', ...none }],
  ])('is not made again after %s', (_what, failure) => {
    expect(delay(failure)).toBeNull();
  });
});

describe('a request that may not be made twice', () => {
  it('is made again when it was refused with 429 rate_limited', () => {
    expect(delay(refused, { repeatable: 'when_refused' })).toBe(500);
  });

  it.each<[string, Failure]>([
    ["an upstream's own 429", { status: 429, errorCode: null, ...none }],
    ['502', { status: 502, errorCode: 'upstream_unavailable', ...none }],
    ['503', { status: 503, errorCode: 'service_unavailable', ...none }],
    ['a reset connection', { connectionCode: 'ECONNRESET', ...none }],
    ['409 idempotency_in_progress', { status: 409, errorCode: 'idempotency_in_progress', ...none }],
  ])('is not made again after %s', (_what, failure) => {
    expect(delay(failure, { repeatable: 'when_refused' })).toBeNull();
  });
});

describe('the delay', () => {
  const broken = { connectionCode: 'ECONNRESET', ...none };

  it('doubles up to eight seconds', () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((failures) => delay(broken, { failures }))).toEqual([
      500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000,
    ]);
  });

  it('is shortened by up to a half at random', () => {
    expect(delay(broken, { random: 1 })).toBe(250);
  });

  it('is never shorter than Retry-After, also where that is later than the back-off', () => {
    expect(delay({ ...refused, retryAfterMs: 30_000 })).toBe(30_000);
    expect(delay({ ...refused, retryAfterMs: 30_000 }, { random: 1 })).toBe(30_250);
    expect(delay({ ...refused, retryAfterMs: 0 })).toBe(500);
  });

  it('is left to the caller where Retry-After asks for more than the limit', () => {
    expect(delay({ ...refused, retryAfterMs: 60_000 })).toBe(60_000);
    expect(delay({ ...refused, retryAfterMs: 60_001 })).toBeNull();
  });

  it('ends with the number of retries', () => {
    expect(delay(broken, { failures: 10 })).toBe(8_000);
    expect(delay(broken, { failures: 11 })).toBeNull();
  });
});

describe('mayHaveWorked', () => {
  it.each([
    [undefined, true],
    [500, true],
    [503, true],
    [429, false],
    [404, false],
  ])('status %p: %p', (status, expected) => {
    expect(mayHaveWorked({ status, retryAfterMs: null })).toBe(expected);
  });
});
