import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createPicker } from './response-shape.ts';

describe('an answer', () => {
  it('keeps what its schema declares and drops the rest, at any depth', () => {
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
});
