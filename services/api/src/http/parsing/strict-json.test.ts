import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isProblem } from '../problem.ts';
import { parseJson } from './strict-json.ts';

const limits = { maxDepth: 20, maxKeys: 1_000 };

function parse(text: string | Buffer) {
  return parseJson(Buffer.isBuffer(text) ? text : Buffer.from(text), limits);
}

function flawOf(text: string): unknown {
  const parsed = parse(text);
  const [flaw] = isProblem(parsed) ? (parsed.details ?? []) : [];
  return flaw === undefined ? parsed : [flaw.path, flaw.code];
}

describe('strict JSON', () => {
  it('reads any output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        fc.pre(!text.includes('\\u0000'));
        expect(parse(text)).toEqual({ value: JSON.parse(text) });
      }),
    );
  });

  it.each(['', '{', '{"a":1,}', "{'a':1}", 'NaN', '\ufeff{}', '{} x', '[1 2]'])(
    'refuses what is no JSON: %j',
    (text) => {
      expect(parse(text)).toMatchObject({ problem: 'invalid_json' });
    },
  );

  it('refuses bytes that are not UTF-8', () => {
    expect(parse(Buffer.from([0x22, 0xff, 0x22]))).toMatchObject({ problem: 'invalid_json' });
  });

  it.each([
    ['{"a":1,"a":2}', 'a', 'duplicate_field'],
    ['{"a":1,"\\u0061":2}', 'a', 'duplicate_field'],
    ['{"x":[{},{"b":{"c":1,"c":1}}]}', 'x[1].b.c', 'duplicate_field'],
    ['{"__proto__":1,"\\u005f_proto__":1}', '__proto__', 'duplicate_field'],
    ['{"a":["x","\\u0000"]}', 'a[1]', 'invalid_text'],
    ['{"a":"\\ud800"}', 'a', 'invalid_text'],
    ['{"a":{"b\\u0000":1}}', 'a.b\0', 'invalid_text'],
    ['"\\udc00"', '', 'invalid_text'],
  ])('%s: %s is %s', (text, path, code) => expect(flawOf(text)).toEqual([path, code]));

  it.each([
    ['{"a":{"b":1},"b":{"b":1},"c":[{"b":1},{"b":1}]}'],
    ['{"a":"{\\"a\\":1}","b":"[[[[,,::"}'],
    ['{"a":"\\\\","b":"\\\\\\"","c":1}'],
    ['{"a":"\\ud83d\\ude00","toString":1,"constructor":2}'],
    ['{"":1,"a":""}'],
    ['{"__proto__":{"a":1},"a":{"__proto__":null},"constructor":{"prototype":{"x":1}}}'],
  ])('accepts %s', (text) => expect(parse(text)).toEqual({ value: JSON.parse(text) }));

  it('refuses documents that are nested too deeply', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(isProblem(parse(nested(20)))).toBe(false);
    expect(flawOf(nested(21))).toEqual(['[0]'.repeat(20), 'too_deep']);
    // A number longer than a double's digits takes another way through the parser, which recurses.
    const longNumber = '1'.repeat(30);
    expect(flawOf(nested(30_000).replace('[]', `[${longNumber}]`))).toEqual(['[0]'.repeat(20), 'too_deep']);
    expect(isProblem(parse(`${'{"a":'.repeat(20)}1${'}'.repeat(20)}`))).toBe(false);
    expect(isProblem(parse(`${'{"a":'.repeat(21)}1${'}'.repeat(21)}`))).toBe(true);
    expect(isProblem(parse(nested(30_000)))).toBe(true);
  });

  it('refuses documents with too many keys, at any depth', () => {
    const withKeys = (count: number) =>
      JSON.stringify([Object.fromEntries(Array.from({ length: count }, (_, n) => [n, n]))]);
    expect(isProblem(parse(withKeys(1_000)))).toBe(false);
    expect(flawOf(withKeys(1_001))).toEqual(['', 'too_many_fields']);
  });
});
