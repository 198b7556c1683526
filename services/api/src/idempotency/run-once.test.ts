import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fingerprintOf } from './run-once.ts';

describe('the fingerprint of a request', () => {
  const of = (json: unknown, query = '') => fingerprintOf(query, json).toString('hex');

  it('does not depend on the order of fields, at any depth', () => {
    expect(of({ a: 1, b: { c: 2, d: [3] } })).toBe(of({ b: { d: [3], c: 2 }, a: 1 }));
    const reversed = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(reversed)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value)
                .map(([name, field]) => [name, reversed(field)])
                .reverse(),
            )
          : value;
    fc.assert(fc.property(fc.jsonValue(), (value) => expect(of(reversed(value))).toBe(of(value))));
  });

  it('differs between different requests', () => {
    const different = [
      {},
      { a: 1 },
      { a: '1' },
      { a: null },
      { b: 1 },
      [],
      ['a', 1],
      [['a', 1]],
      { fields: [['a', 1]] },
    ];
    expect(new Set(different.map((json) => of(json))).size).toBe(different.length);
    expect(of(undefined)).not.toBe(of({}));
    expect(of({ a: [1, 2] })).not.toBe(of({ a: [2, 1] }));
    expect(of({}, 'force=1')).not.toBe(of({}));
  });

  it('shows that there are headers, and not which', () => {
    const url = 'https://example.com';
    const withHeaders = of({ url, headers: { authorization: 'Basic short' } });
    expect(withHeaders).toBe(of({ url, headers: { authorization: 'Basic other' } }));
    expect(withHeaders).not.toBe(of({ url }));
    expect(of({ a: { headers: {} } })).not.toBe(of({ a: { headers: { b: '' } } }));
  });
});
