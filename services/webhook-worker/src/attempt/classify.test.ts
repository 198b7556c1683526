import { describe, expect, it } from '@jest/globals';
import type { SendErrorCode, SendFailure, SendResponse } from '../sender/types.ts';
import { classify, secretUnavailable } from './classify.ts';

const now = Date.UTC(2026, 10, 21);
const timings = { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null };

function answer(statusCode: number, retryAfter: string | null = null): SendResponse {
  return { kind: 'response', statusCode, retryAfter, excerpt: null, durationMs: 1, timings };
}

function failure(code: SendErrorCode): SendFailure {
  return { kind: 'error', code, message: 'x', durationMs: 1, timings };
}

describe('an answer', () => {
  it.each([200, 201, 202, 204, 206, 226, 299])('%d delivers', (status) => {
    expect(classify(answer(status, '60'), now)).toEqual({ kind: 'delivered' });
  });

  it('410 stops', () => expect(classify(answer(410, '60'), now)).toEqual({ kind: 'stop', reason: 'gone' }));

  it.each([300, 301, 302, 303, 305, 307, 308])('%d is retried as a redirect', (status) => {
    expect(classify(answer(status), now)).toMatchObject({ kind: 'retry', reason: 'redirect', countsForBreaker: false });
  });

  it.each([304, 306, 399, 400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 451, 499, 600, 999])(
    '%d is retried, and is no reason to rest',
    (status) => {
      const verdict = classify(answer(status), now);
      expect(verdict).toMatchObject({
        kind: 'retry',
        reason: 'http_error',
        countsForBreaker: false,
        countsForHealth: true,
      });
    },
  );

  it.each([429, 500, 502, 503, 504, 520, 599])('%d is retried, and a reason to rest', (status) => {
    const verdict = classify(answer(status), now);
    expect(verdict).toMatchObject({
      kind: 'retry',
      reason: 'http_error',
      countsForBreaker: true,
      countsForHealth: true,
    });
  });

  it('may ask for time', () => {
    expect(classify(answer(503, '60'), now)).toMatchObject({ retryAfterMs: 60_000 });
    expect(classify(answer(404, 'Sat, 21 Nov 2026 00:00:30 GMT'), now)).toMatchObject({ retryAfterMs: 30_000 });
    expect(classify(answer(503, 'junk'), now)).toMatchObject({ retryAfterMs: null });
  });
});

describe('no answer', () => {
  it.each<[SendErrorCode, boolean]>([
    ['timeout', true],
    ['dns_failed', true],
    ['connection_refused', true],
    ['connection_reset', true],
    ['tls_failed', true],
    ['destination_blocked', false],
    ['response_invalid', false],
  ])('%s is retried; a reason to rest: %s', (code, countsForBreaker) => {
    const expected = { kind: 'retry', reason: code, retryAfterMs: null, countsForBreaker, countsForHealth: true };
    expect(classify(failure(code), now)).toEqual(expected);
  });

  it('because of our own secret says nothing about the receiver', () => {
    expect(secretUnavailable).toMatchObject({ kind: 'retry', countsForBreaker: false, countsForHealth: false });
  });
});
