import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fingerprints } from './run-once.ts';

describe('the fingerprint of a request', () => {
  const keys: readonly Buffer[] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const allOf = (json: unknown, used = keys) => fingerprints('', json, used).map((print) => print.toString('hex'));
  const of = (json: unknown, query = '') => fingerprints(query, json, keys)[0]?.toString('hex');

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

  it('is a MAC for each key where it covers headers, and a hash that needs no key elsewhere', () => {
    const [first, second] = keys;
    const secret = { url: 'https://example.com', headers: { authorization: 'Basic short' } };
    expect(new Set([...allOf(secret), ...allOf({ ...secret, headers: {} })]).size).toBe(4);
    expect(allOf(secret, [second, first] as Buffer[])).toEqual(allOf(secret).reverse());
    for (const plain of [{ url: secret.url }, { a: { headers: {} } }, ['headers'], 'headers', null, undefined])
      expect([allOf(plain).length, allOf(plain)]).toEqual([1, allOf(plain, [])]);
  });
});
