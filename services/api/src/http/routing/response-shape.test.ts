import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createPicker } from './response-shape.ts';

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
    ['a default', inner.default({ a: 2 }), leaking, { a: 1 }],
    ['a missing default', inner.default({ a: 2 }), undefined, { a: 2 }],
    ['a default in an object', z.strictObject({ x: inner.default({ a: 2 }) }), {}, { x: { a: 2 } }],
    ['a pipe', z.preprocess((value) => value, inner), leaking, { a: 1 }],
    ['the values of a record', z.record(z.string(), inner), { x: leaking }, { x: { a: 1 } }],
    ['the names of a record', z.record(z.enum(['x', 'y']), inner), { x: leaking, secret: leaking }, { x: { a: 1 } }],
    ['a union of scalars', z.union([z.string(), z.number(), z.null()]), 'x', 'x'],
    ['an object or a scalar', z.union([z.string(), inner]), leaking, { a: 1 }],
    ['an array or an object', z.union([z.array(inner), inner]), [leaking], [{ a: 1 }]],
    ['one of two objects', z.union([one, two]), { ...leaking, kind: 'one' }, { kind: 'one', a: 1 }],
    [
      'the other of two',
      z.discriminatedUnion('kind', [one, two]),
      { kind: 'two', a: 1, b: leaking },
      { kind: 'two', b: { a: 1 } },
    ],
    ['a nullable union', z.union([one, two.nullable()]), null, null],
  ])('drops undeclared fields from %s', (_name, schema: z.ZodType, value, expected) => {
    expect(createPicker(schema)(value)).toEqual(expected);
  });

  it('keeps a record field named __proto__ as an ordinary field', () => {
    const picked = createPicker(z.record(z.string(), inner))(JSON.parse('{"__proto__":{"a":1,"secret":1}}'));
    expect(JSON.stringify(picked)).toBe('{"__proto__":{"a":1}}');
  });

  it('fails when a value belongs to no member of a union, instead of sending it', () => {
    expect(() => createPicker(z.union([one, two]))({ kind: 'three', secret: 1 })).toThrow('belongs to no member');
    expect(() => createPicker(z.union([z.string(), one]))([leaking])).toThrow('belongs to no member');
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
    ['a union of objects that look alike', z.union([inner, z.strictObject({ b: z.number() })]), 'response.x'],
    ['a union of two arrays', z.union([z.array(one), z.array(two)]), 'response.x'],
  ])('is refused at start, naming the place, for %s', (_name, schema, place) => {
    expect(() => createPicker(z.strictObject({ x: schema }))).toThrow(`${place}: `);
  });
});
