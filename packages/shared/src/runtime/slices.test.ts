import { describe, expect, it } from '@jest/globals';
import { mapInSlices } from './slices.ts';

/** Longer than a slice. */
function work(ms = 3): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('mapping in slices', () => {
  it('gives the results in the order of the items, with their indexes', async () => {
    const items = Array.from({ length: 1_000 }, (_, index) => index);
    expect(await mapInSlices(items, (item, index) => item + index)).toEqual(items.map((item) => 2 * item));
    expect(await mapInSlices([], () => 1)).toEqual([]);
  });

  it('lets others have the event loop after each slice', async () => {
    const seen: string[] = [];
    const others = setInterval(() => seen.push('other'), 1);
    await mapInSlices([1, 2, 3, 4, 5], (item) => {
      work();
      seen.push(`item ${item}`);
    });
    clearInterval(others);
    const betweenItems = seen.slice(seen.indexOf('item 1'), seen.indexOf('item 5'));
    expect(betweenItems.filter((entry) => entry === 'other').length).toBeGreaterThan(1);
  });

  it('gives several callers a slice each, in turn, and one in each turn of the event loop', async () => {
    let turn = 0;
    const count = () => {
      turn += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const order: string[] = [];
    const turns: number[] = [];
    const map = (item: string) => {
      work();
      order.push(item);
      turns.push(turn);
    };
    await Promise.all([mapInSlices(['a1', 'a2', 'a3'], map), mapInSlices(['b1', 'b2', 'b3'], map)]);
    clearImmediate(counting);
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
    expect(new Set(turns.slice(2)).size).toBe(4);
  });

  it('ends with the first error, and others go on', async () => {
    const mapped: number[] = [];
    const failing = mapInSlices([1, 2, 3], (item) => {
      work();
      mapped.push(item);
      if (item === 2) throw new Error('item 2');
    });
    const other = mapInSlices([1, 2], () => work());
    await expect(failing).rejects.toThrow('item 2');
    await other;
    expect(mapped).toEqual([1, 2]);
  });
});
