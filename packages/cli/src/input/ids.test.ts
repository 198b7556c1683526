import { describe, expect, it } from '@jest/globals';
import { Failure } from '../failure.ts';
import { formsOf, publicId } from './ids.ts';

// As the services write them: the ends of the range, and one between.
const pairs = [
  ['00000000-0000-0000-0000-000000000000', '00000000000000000000000000'],
  ['ffffffff-ffff-ffff-ffff-ffffffffffff', '7zzzzzzzzzzzzzzzzzzzzzzzzz'],
  ['01234567-89ab-cdef-0123-456789abcdef', '014d2pf2dbsqqg28t5cy4tqkff'],
] as const;

describe('publicId', () => {
  it.each(pairs)('%s → %s', (uuid, suffix) => {
    expect(publicId('whk', uuid)).toBe(`whk_${suffix}`);
    expect(publicId('whk', uuid.toUpperCase())).toBe(`whk_${suffix}`);
  });

  it.each(['whk_00000000000000000000000000', 'nonsense'])('leaves %s to the API', (given) => {
    expect(publicId('whk', given)).toBe(given);
  });
});

describe('formsOf', () => {
  it.each(pairs)('%s ↔ %s', (uuid, suffix) => {
    expect(formsOf(`dlv_${suffix}`)).toEqual({ uuid, publicIds: [['delivery', `dlv_${suffix}`]] });
    expect(formsOf(uuid).publicIds).toContainEqual(['webhook', `whk_${suffix}`]);
  });

  it.each(['', 'nonsense', 'abc_00000000000000000000000000', 'dlv_80000000000000000000000000', 'dlv_0000'])(
    'refuses "%s"',
    (given) => {
      expect(() => formsOf(given)).toThrow(Failure);
    },
  );
});
