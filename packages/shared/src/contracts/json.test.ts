import { expect, it } from '@jest/globals';
import { findUnstorable, maxJsonDepth, parseExactJson } from './json.ts';

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);

it.each<[unknown, (string | number)[], string]>([
  [{ a: [{ b: 'x\0' }] }, ['a', 0, 'b'], 'NUL'],
  [{ a: 'ok', b: { c: '\ud800' } }, ['b', 'c'], 'lone surrogates'],
  [{ a: { 'b\0': 1 } }, ['a'], 'keys'],
  [[1, [Number.POSITIVE_INFINITY]], [1, 0], 'number'],
  ['\udc00', [], 'lone surrogates'],
  [nested(maxJsonDepth + 1), Array(maxJsonDepth).fill(0), 'nested deeper'],
])('%j cannot be stored: %j', (value, path, words) => {
  expect(findUnstorable(value)).toEqual({ path, reason: expect.stringContaining(words) });
});

it.each([
  [{ a: ['é😀', -0, 1e308, null, true, {}, []], '': '' }],
  [nested(maxJsonDepth)],
  [parseExactJson('{"id":12345678901234567890}')],
])('%j can be stored', (value) => {
  expect(findUnstorable(value)).toBeNull();
});
