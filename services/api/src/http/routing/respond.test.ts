import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createPicker } from './respond.ts';

describe('an answer', () => {
  it('keeps declared fields and drops all others, at any depth', () => {
    const pick = createPicker(
      z.strictObject({
        id: z.string(),
        inner: z.strictObject({ a: z.number() }).nullable(),
        list: z.array(z.strictObject({ b: z.number().optional() })),
        free: z.record(z.string(), z.string()),
      }),
    );
    const answer = {
      id: 'x',
      hash: 's',
      inner: { a: 1, secret: 1 },
      list: [{ b: 1, secret: 1 }, {}],
      free: { any: 'y' },
    };
    expect(pick(answer)).toEqual({ id: 'x', inner: { a: 1 }, list: [{ b: 1 }, {}], free: { any: 'y' } });
    expect(pick({ ...answer, inner: null, hash: 1 })).toEqual({
      id: 'x',
      inner: null,
      list: [{ b: 1 }, {}],
      free: { any: 'y' },
    });
  });

  const inner = z.strictObject({ a: z.number() });
  const leaking = { a: 1, secret: 1 };
  const one = z.strictObject({ kind: z.literal('one'), a: z.number() });
  const two = z.strictObject({ kind: z.literal('two'), b: inner });

  it.each([
    ['an optional object', inner.optional(), leaking, { a: 1 }],
    ['a missing optional object', inner.optional(), undefined, undefined],
    ['the values of a record', z.record(z.string(), inner), { x: leaking }, { x: { a: 1 } }],
    ['a union of scalars', z.union([z.string(), z.number(), z.null()]), 'x', 'x'],
    ['a union of scalars and lists', z.union([z.string(), z.array(z.string())]), ['x'], ['x']],
    ['a nullable union', z.union([z.string(), z.boolean()]).nullable(), null, null],
  ])('drops undeclared fields from %s', (_name, schema: z.ZodType, value, expected) => {
    expect(createPicker(schema)(value)).toEqual(expected);
  });

  it('keeps a record field named __proto__ as an ordinary field', () => {
    const picked = createPicker(z.record(z.string(), inner))(JSON.parse('{"__proto__":{"a":1,"secret":1}}'));
    expect(JSON.stringify(picked)).toBe('{"__proto__":{"a":1}}');
  });

  it.each<[string, z.ZodType, string]>([
    ['any', z.any(), 'response.x'],
    ['unknown', z.unknown(), 'response.x'],
    ['custom', z.custom<string>(), 'response.x'],
    ['a transform', z.string().transform(Number), 'response.x'],
    ['an intersection', z.intersection(one, two), 'response.x'],
    ['a lazy schema', z.lazy(() => one), 'response.x'],
    ['a map', z.map(z.string(), one), 'response.x'],
    ['an object with other fields', z.looseObject({ a: z.string() }), 'response.x'],
    ['an array of unknowns', z.array(z.unknown()), 'response.x[]'],
    ['a record of unknowns', z.record(z.string(), z.unknown()), 'response.x{}'],
    ['a union with unknown', z.union([z.string(), z.unknown()]), 'response.x'],
    ['a union of objects', z.union([one, two]), 'response.x'],
    ['a union with a list of objects', z.union([z.string(), z.array(one)]), 'response.x'],
    ['a default', inner.default({ a: 2 }), 'response.x'],
    ['a pipe', z.preprocess((value) => value, inner), 'response.x'],
  ])('is refused at start, naming the place, for %s', (_name, schema, place) => {
    expect(() => createPicker(z.strictObject({ x: schema }))).toThrow(`${place}: `);
  });
});
