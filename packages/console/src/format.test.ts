import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { duration, fieldTime, fromNow, inUtc, parseExact, pretty, timeOf, timeParts, upTo, visible } from './format.ts';
import { m } from './messages.ts';

describe('JSON for people', () => {
  it('keeps every token, also those that a parser would change', () => {
    const text = '{"id":12345678901234567890,"a":1e400,"__proto__":{},"a":[1,{"b":"x: {, }"},[],{ }]}';
    expect(pretty(text).replaceAll(/\s*\n\s*|(?<=":) /g, '')).toBe(text);
  });

  it('keeps every number of an answer as its text has it', () => {
    const text = '{"id":12345678901234567890,"a":[1.0,-0,1e400,0.1,7],"b":"12345678901234567890"}';
    expect(JSON.stringify(parseExact(text))).toBe(text);
    expect(parseExact('{"count":12,"share":0.5}')).toEqual({ count: 12, share: 0.5 });
  });

  it('means the same for a parser', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.parse(pretty(text))).toEqual(JSON.parse(text));
      }),
    );
  });
});

it('writes out what deceives, and leaves all other text alone', () => {
  expect(visible('a\u202eb\u200b\u001b[31m\r')).toBe('a⟨U+202E⟩b⟨U+200B⟩⟨U+001B⟩[31m⟨U+000D⟩');
  expect(visible('Grüße, 世界 🙂\n\ttab')).toBe('Grüße, 世界 🙂\n\ttab');
});

it('shows a time with its offset', () => {
  expect(timeParts('2025-07-01T09:08:07.000Z', true)).toEqual({ time: '1 Jul 2025 09:08:07', offset: '+00:00' });
});

it('a field shows and reads a time in the chosen zone', () => {
  const at = '2025-07-01T09:08:00.000Z';
  expect(fieldTime(at, true)).toBe('2025-07-01T09:08');
  for (const utc of [true, false]) {
    inUtc.set(utc);
    expect(timeOf(fieldTime(at, utc))).toBe(at);
  }
  expect(fieldTime(null, true)).toBe('');
});

it('says that a count may be higher, and one delivery in the singular', () => {
  expect([upTo(9_999), upTo(10_000), upTo(10_000, 3)]).toEqual(['9,999', '10,000+', '10,003+']);
  expect(m.overview.waiting(upTo(1, 0))).toBe('1 delivery waits.');
  expect(m.overview.waiting(upTo(10_000, 1))).toBe('10,001+ deliveries wait.');
});

it.each([
  [310, '310 ms'],
  [2500, '2.5 s'],
  [250_000, '4 min 10 s'],
  [2 * 86_400_000 + 3 * 3_600_000, '2 d 3 h'],
  [3_600_000, '1 h'],
])('%d ms are %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

it('says how long ago a time was, and how far ahead it lies', () => {
  const now = Date.parse('2026-11-27T12:00:00Z');
  expect(fromNow('2026-11-27T11:57:00Z', now)).toBe('3 min. ago');
  expect(fromNow('2026-11-29T12:00:00Z', now)).toBe('in 2 days');
});
