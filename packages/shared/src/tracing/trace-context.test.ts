import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isSampled, parseTraceparent, traceIdOf } from './trace-context.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const sampled = `00-${traceId}-${spanId}-01`;

describe('the context of a trace', () => {
  test('is taken as it was sent, with its parts', () => {
    expect(parseTraceparent(sampled)).toBe(sampled);
    expect([traceIdOf(sampled), isSampled(sampled)]).toEqual([traceId, true]);
    expect(isSampled(`00-${traceId}-${spanId}-00`)).toBe(false);
    expect(isSampled(`00-${traceId}-${spanId}-02`)).toBe(false);
    expect(isSampled(`00-${traceId}-${spanId}-03`)).toBe(true);
  });

  test.each([
    ['a later version with more fields', `01-${traceId}-${spanId}-01-more`, sampled],
    ['a later version without', `cc-${traceId}-${spanId}-01`, sampled],
    ['flags that nobody knows', `00-${traceId}-${spanId}-ff`, `00-${traceId}-${spanId}-03`],
  ])('in %s becomes one of version 00', (_what, text, expected) => {
    expect(parseTraceparent(text)).toBe(expected);
  });

  test.each([
    ['nothing', undefined],
    ['several headers', [sampled, sampled]],
    ['an empty text', ''],
    ['the version that is forbidden', `ff-${traceId}-${spanId}-01`],
    ['more fields in version 00', `${sampled}-more`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['a span of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['capital letters', sampled.toUpperCase()],
    ['a short trace', `00-${traceId.slice(1)}-${spanId}-01`],
    ['a space before it', ` ${sampled}`],
    ['a line break behind it', `${sampled}\n`],
    ['megabytes', `01-${traceId}-${spanId}-01-${'a'.repeat(1_000_000)}`],
  ])('is not %s', (_what, text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });

  test('has one form, whatever is read', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string().map((end) => sampled + end),
    );
    fc.assert(
      fc.property(text, (each) => {
        const parsed = parseTraceparent(each);
        return parsed === undefined || /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/.test(parsed);
      }),
    );
  });
});
