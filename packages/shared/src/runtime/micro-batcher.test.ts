import { describe, expect, it } from '@jest/globals';
import { MicroBatcher } from './micro-batcher.ts';

/** A batcher that notes its batches, each of which ends when the test says so. */
function controlled(options: { maxSize?: number; maxRunning?: number } = {}) {
  const batches: { items: string[]; end: () => void }[] = [];
  const batcher = new MicroBatcher<string, number>({
    ...options,
    run: (items) => new Promise((resolve) => batches.push({ items, end: () => resolve(items.length) })),
  });
  return { batcher, batches, items: () => batches.map((batch) => batch.items) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the micro-batcher', () => {
  it('runs the items of one turn of the event loop together, and gives each caller the result', async () => {
    const batcher = new MicroBatcher({ run: async (items: string[]) => items.join() });
    const results = await Promise.all([batcher.add('a'), batcher.add('b')]);
    expect(results).toEqual(['a,b', 'a,b']);
    expect(await batcher.add('c')).toBe('c');
  });

  it('lets every caller of a batch fail when the batch fails, and goes on', async () => {
    let fails = true;
    const batcher = new MicroBatcher({
      run: async (items: string[]) => {
        if (fails) throw new Error('refused');
        return items;
      },
    });
    const results = await Promise.allSettled([batcher.add('a'), batcher.add('b')]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await batcher.add('c')).toEqual(['c']);
    expect(batcher.unfinished).toBe(0);
  });

  it('lets every caller of a batch fail also when `run` throws before it returns a promise, and goes on', async () => {
    let fails = true;
    const batcher = new MicroBatcher({
      maxRunning: 1,
      run: (items: string[]) => {
        if (fails) throw new Error('refused');
        return Promise.resolve(items);
      },
    });
    const results = await Promise.allSettled([batcher.add('a'), batcher.add('b')]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await batcher.add('c')).toEqual(['c']);
    expect(batcher.unfinished).toBe(0);
  });

  it('closes a batch that is full at once', () => {
    const { batcher, items } = controlled({ maxSize: 2 });
    for (const item of ['a', 'b', 'c']) void batcher.add(item);
    expect(items()).toEqual([['a', 'b']]);
  });

  it('gathers while as many batches run as may, and starts the next one as soon as one ends', async () => {
    const { batcher, batches, items } = controlled({ maxRunning: 1 });
    void batcher.add('a');
    await turn();
    void batcher.add('b');
    await turn();
    void batcher.add('c');
    await turn();
    expect(items()).toEqual([['a']]);
    expect(batcher.unfinished).toBe(3);
    batches[0]?.end();
    await turn();
    expect(items()).toEqual([['a'], ['b', 'c']]);
    expect(batcher.unfinished).toBe(2);
  });

  it('waits for more items for the time that it is given', async () => {
    const batcher = new MicroBatcher({ waitMs: 5, run: async (items: string[]) => items });
    const first = batcher.add('a');
    await turn();
    expect(await Promise.all([first, batcher.add('b')])).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  it('flushes what waits without waiting for more, and resolves when nothing runs, also after failures', async () => {
    const { batcher, batches, items } = controlled({ maxSize: 2, maxRunning: 1 });
    for (const item of ['a', 'b', 'c']) void batcher.add(item);
    let flushed = false;
    const flushing = batcher.flush().then(() => {
      flushed = true;
    });
    batches[0]?.end();
    await turn();
    expect(items()).toEqual([['a', 'b'], ['c']]);
    expect(flushed).toBe(false);
    batches[1]?.end();
    await flushing;

    const failing = new MicroBatcher({ waitMs: 60_000, run: () => Promise.reject(new Error('refused')) });
    const added = failing.add('x').catch(String);
    await failing.flush();
    expect(await added).toBe('Error: refused');
  });
});
