import type { AttemptError } from '@enterprise-api/shared/contracts';
import { describe, expect, it } from '@jest/globals';
import type { SendFailure, SendResponse } from '../sender/exchange.ts';
import type { LocalCause } from '../sender/failures.ts';
import { classify, errorMessageOf } from './classify.ts';

const now = Date.UTC(2026, 10, 21);
const timings = { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null };

function answer(statusCode: number, retryAfter: string | null = null): SendResponse {
  const head = { statusCode, retryAfter, location: null, excerpt: null, isCompressed: false, isAborted: false };
  return { kind: 'response', ...head, headers: {}, durationMs: 1, timings, remoteAddress: null };
}

function failure(code: AttemptError, localCause?: LocalCause): SendFailure {
  return {
    kind: 'error',
    code,
    message: 'x',
    ...(localCause && { localCause }),
    durationMs: 1,
    timings,
    remoteAddress: null,
  };
}

describe('an answer', () => {
  it.each([200, 201, 202, 204, 206, 226, 299])('%d delivers', (status) => {
    expect(classify(answer(status, '60'), now)).toMatchObject({ result: 'delivered', error: null, retryAfterMs: null });
  });

  it('410 stops', () =>
    expect(classify(answer(410, '60'), now)).toMatchObject({
      result: 'stop',
      error: 'http_error',
      retryAfterMs: null,
    }));

  it.each([300, 301, 302, 303, 304, 307, 308, 399])('%d is retried as a redirect', (status) => {
    expect(classify(answer(status), now)).toMatchObject({
      result: 'retry',
      error: 'redirect',
      countsForBreaker: false,
    });
  });

  it.each([400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 451, 499, 600, 999])(
    '%d is retried, and is no sign of trouble',
    (status) => {
      const verdict = classify(answer(status), now);
      expect(verdict).toMatchObject({
        result: 'retry',
        error: 'http_error',
        countsForBreaker: false,
        countsForHealth: true,
      });
    },
  );

  it.each([429, 500, 502, 503, 504, 520, 599])('%d is retried, and a sign of trouble', (status) => {
    const verdict = classify(answer(status), now);
    expect(verdict).toMatchObject({
      result: 'retry',
      error: 'http_error',
      countsForBreaker: true,
      countsForHealth: true,
    });
  });

  it('may ask for a later retry', () => {
    expect(classify(answer(503, '60'), now)).toMatchObject({ retryAfterMs: 60_000 });
    expect(classify(answer(404, 'Sat, 21 Nov 2026 00:00:30 GMT'), now)).toMatchObject({ retryAfterMs: 30_000 });
    expect(classify(answer(503, 'junk'), now)).toMatchObject({ retryAfterMs: null });
  });
});

describe('no answer', () => {
  it.each<[AttemptError, boolean]>([
    ['timeout', true],
    ['dns_failed', true],
    ['connection_refused', true],
    ['connection_reset', true],
    ['tls_failed', true],
    ['destination_blocked', false],
    ['response_invalid', false],
  ])('%s is retried; a sign of trouble: %s', (code, countsForBreaker) => {
    const expected = { result: 'retry', error: code, retryAfterMs: null, countsForBreaker, countsForHealth: true };
    expect(classify(failure(code), now)).toEqual(expected);
  });

  it('because of our own secret says nothing about the receiver', () => {
    const secretUnavailable = classify(failure('secret_unavailable'), now);
    expect(secretUnavailable).toMatchObject({ result: 'retry', countsForBreaker: false, countsForHealth: false });
  });

  it.each<[AttemptError, LocalCause]>([
    ['connection_refused', 'file_descriptors'],
    ['connection_refused', 'local_ports'],
    ['connection_refused', 'network'],
    ['dns_failed', 'resolver'],
    ['timeout', 'resolver'],
  ])('%s because of our %s is retried, and counts for neither breaker nor health', (code, localCause) => {
    const counts = { countsForBreaker: false, countsForHealth: false };
    const expected = { result: 'retry', error: code, retryAfterMs: null, ...counts };
    expect(classify(failure(code, localCause), now)).toEqual(expected);
  });
});

describe('the description of an answer', () => {
  const url = 'https://user.example/hooks/1?token=secret';
  const describeWith = (statusCode: number, more: Partial<SendResponse>) => {
    const response = { ...answer(statusCode), ...more };
    return errorMessageOf(response, classify(response, now), url);
  };

  it.each<[string, string]>([
    ['https://example.com/new', 'https://example.com/new'],
    ['/new', 'https://user.example/new'],
    ['https://me:password@example.com:8443/a?token=x#part', 'https://example.com:8443/a'],
    ['http://example.com', 'http://example.com/'],
    ['/é\u0000\n"', 'https://user.example/%C3%A9%00%22'],
  ])('names where a redirect to %j leads, without what may be secret', (location, shown) => {
    const message = `The receiver redirects to ${shown} (Location, without its query). It is not followed.`;
    expect(describeWith(302, { location })).toBe(message);
  });

  it.each([null, 'javascript:alert(1)', 'https://', 'http://[::'])('of a redirect to %j names no place', (location) => {
    expect(describeWith(307, { location })).toMatch(/^The receiver redirects (?:without|to a) [^/]*$/);
  });

  it('is short, however long the Location is', () => {
    expect(describeWith(301, { location: `/${'x'.repeat(16_000)}` })?.length).toBeLessThan(400);
  });

  it('mentions a compressed body of an error, and nothing of a success', () => {
    expect(describeWith(500, { isCompressed: true })).toBe('The body of the answer is compressed and is not shown.');
    expect(describeWith(410, { isCompressed: true })).toBe('The body of the answer is compressed and is not shown.');
    expect(describeWith(200, { isCompressed: true, location: '/x' })).toBeNull();
    expect(describeWith(500, { location: '/x' })).toBeNull();
    const both = describeWith(308, { isCompressed: true, location: '/x' });
    expect(both).toMatch(/^The receiver redirects .* The body of the answer is compressed and is not shown\.$/);
  });
});
