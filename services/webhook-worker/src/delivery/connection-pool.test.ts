import { describe, expect, it } from '@jest/globals';
import { ConnectionPool } from './connection-pool.ts';

function connection(origin: string, peer: string | null = '1.1.1.1') {
  let open = true;
  const destroy = () => {
    open = false;
  };
  return { origin, peer, isOpen: () => open, destroy };
}

describe('waiting connections', () => {
  it('are given out once, the last used first, for their origin alone', () => {
    const pool = new ConnectionPool<ReturnType<typeof connection>>(10);
    const [first, second, other] = [connection('a'), connection('a'), connection('b')];
    for (const each of [first, second, other]) pool.put(each);
    expect(pool.take('a', ['1.1.1.1'])).toBe(second);
    expect(pool.take('a', ['1.1.1.1'])).toBe(first);
    expect(pool.take('a', ['1.1.1.1'])).toBeUndefined();
    expect(pool.take('c', ['1.1.1.1'])).toBeUndefined();
    pool.put(first);
    expect(pool.take('a', ['1.1.1.1'])).toBe(first);
  });

  it('are given out only to an address that the host has now', () => {
    const pool = new ConnectionPool<ReturnType<typeof connection>>(10);
    const [old, unknown, current] = [connection('a', '1.1.1.1'), connection('a', null), connection('a', '2.2.2.2')];
    for (const each of [current, old, unknown]) pool.put(each);
    expect(pool.take('a', ['2.2.2.2', '3.3.3.3'])).toBe(current);
    expect(pool.take('a', ['2.2.2.2'])).toBeUndefined();
    expect(pool.take('a', ['1.1.1.1'])).toBe(old);
  });

  it('are not given out after they ended', () => {
    const pool = new ConnectionPool<ReturnType<typeof connection>>(10);
    const [ended, forgotten] = [connection('a'), connection('a')];
    pool.put(ended);
    pool.put(forgotten);
    ended.destroy();
    pool.remove(forgotten);
    expect(pool.take('a', ['1.1.1.1'])).toBeUndefined();
  });

  it('are bounded: the one that waited longest is ended', () => {
    const pool = new ConnectionPool<ReturnType<typeof connection>>(2);
    const [first, second, third] = [connection('a'), connection('b'), connection('c')];
    for (const each of [first, second, third]) pool.put(each);
    expect([first, second, third].map((each) => each.isOpen())).toEqual([false, true, true]);
    pool.destroyAll();
    expect([second, third].map((each) => each.isOpen())).toEqual([false, false]);
  });

  it('are ended first where an origin has others: those of a busy one push out no only one', () => {
    const pool = new ConnectionPool<ReturnType<typeof connection>>(3);
    const lone = connection('a');
    const busy = [connection('b'), connection('b'), connection('b')];
    for (const each of [lone, ...busy]) pool.put(each);
    expect([lone, ...busy].map((each) => each.isOpen())).toEqual([true, true, false, true]);
    // What was spare is the only one now, and as good as the others.
    expect(pool.take('b', ['1.1.1.1'])).toBe(busy[2]);
    pool.put(connection('c'));
    pool.put(connection('d'));
    expect(lone.isOpen()).toBe(false);
    expect(busy[0]?.isOpen()).toBe(true);
    pool.destroyAll();
    expect(busy[0]?.isOpen()).toBe(false);
  });
});
