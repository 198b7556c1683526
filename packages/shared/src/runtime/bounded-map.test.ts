import { expect, it } from '@jest/globals';
import { BoundedMap } from './bounded-map.ts';

it('drops the entry that was set longest ago, also when its key is undefined', () => {
  const map = new BoundedMap<string | undefined, number>(2);
  map.set(undefined, 1).set('b', 2).set('c', 3);
  expect([...map]).toEqual([
    ['b', 2],
    ['c', 3],
  ]);
});

it('makes a key that is set again the newest, and drops nothing for it', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1).set('b', 2).set('a', 3);
  expect(map.size).toBe(2);
  map.set('c', 4);
  expect([...map.keys()]).toEqual(['a', 'c']);
});
