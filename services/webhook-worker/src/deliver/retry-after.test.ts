import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseRetryAfter } from './retry-after.ts';
import { maxRetryAfterMs } from './retry-policy.ts';

const now = Date.UTC(2026, 10, 21, 7, 0, 0);

describe('Retry-After', () => {
  it.each([
    ['1', 1_000],
    ['120', 120_000],
    [' 120 ', 120_000],
    ['0120', 120_000],
    ['86400', maxRetryAfterMs],
    ['86401', maxRetryAfterMs],
    ['9'.repeat(400), maxRetryAfterMs],
    ['Sat, 21 Nov 2026 07:01:00 GMT', 60_000],
    ['Saturday, 21-Nov-26 07:01:00 GMT', 60_000],
    ['Sat Nov 21 07:01:00 2026', 60_000],
    ['Tue, 01 Dec 2026 00:00:00 GMT', maxRetryAfterMs],
  ])('%s is honoured', (header, ms) => expect(parseRetryAfter(header, now)).toBe(ms));

  it.each([
    null,
    '',
    '0',
    '-1',
    '+5',
    '1.5',
    '1e3',
    '0x10',
    '5s',
    '5, 10',
    'soon',
    'tomorrow',
    '2026-11-21T07:01:00Z',
    'Sat, 21 Nov 2026 07:01:00',
    'Sat, 21 Nov 2026 07:01:00 UTC',
    'Sat, 21 Foo 2026 07:01:00 GMT',
    'Sat, 32 Nov 2026 07:01:00 GMT',
    'Sat, 00 Nov 2026 07:01:00 GMT',
    'Sat, 21 Nov 2026 24:01:00 GMT',
    'Sat, 21 Nov 2026 06:59:59 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    '١٢٠',
  ])('%j is ignored', (header) => expect(parseRetryAfter(header, now)).toBeNull());

  it('is never a wait where it is junk, and never longer than 24 h', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        const ms = parseRetryAfter(header, now);
        expect(ms === null || (ms > 0 && ms <= maxRetryAfterMs)).toBe(true);
      }),
    );
  });

  it('may be a date as JavaScript writes it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 86_399 }), (seconds) => {
        expect(parseRetryAfter(new Date(now + seconds * 1_000).toUTCString(), now)).toBe(seconds * 1_000);
      }),
    );
  });
});
