import { describe, expect, it } from '@jest/globals';
import { ConnectionPool } from './connection-pool.ts';

function connection(origin: string, peer: string | null = '1.1.1.1') {
  let open = true;
  const destroy = () => {
    open = false;
  };
  return { origin, peer, isOpen: () => open, destroy };
}

let now = 0;
const pool = (maxIdle: number) => new ConnectionPool<ReturnType<typeof connection>>(maxIdle, () => now);

describe('waiting connections', () => {
  it('are given out once, the last used first, for their origin alone', () => {
    const waiting = pool(10);
    const [first, second, other] = [connection('a'), connection('a'), connection('b')];
    for (const each of [first, second, other]) waiting.put(each);
    expect(waiting.take('a', ['1.1.1.1'])).toBe(second);
    expect(waiting.take('a', ['1.1.1.1'])).toBe(first);
    expect(waiting.take('a', ['1.1.1.1'])).toBeUndefined();
    expect(waiting.take('c', ['1.1.1.1'])).toBeUndefined();
    waiting.put(first);
    expect(waiting.take('a', ['1.1.1.1'])).toBe(first);
  });

  it('are given out only to an address that the host has now', () => {
    const waiting = pool(10);
    const [old, unknown, current] = [connection('a', '1.1.1.1'), connection('a', null), connection('a', '2.2.2.2')];
    for (const each of [current, old, unknown]) waiting.put(each);
    expect(waiting.take('a', ['2.2.2.2', '3.3.3.3'])).toBe(current);
    expect(waiting.take('a', ['2.2.2.2'])).toBeUndefined();
    expect(waiting.take('a', ['1.1.1.1'])).toBe(old);
  });

  it('are not given out after they ended', () => {
    const waiting = pool(10);
    const [ended, forgotten] = [connection('a'), connection('a')];
    waiting.put(ended);
    waiting.put(forgotten);
    ended.destroy();
    waiting.remove(forgotten);
    expect(waiting.take('a', ['1.1.1.1'])).toBeUndefined();
  });

  it('are bounded: the one that waited longest is ended', () => {
    const waiting = pool(2);
    const [first, second, third] = [connection('a'), connection('b'), connection('c')];
    for (const each of [first, second, third]) waiting.put(each);
    expect([first, second, third].map((each) => each.isOpen())).toEqual([false, true, true]);
    waiting.destroyAll();
    expect([second, third].map((each) => each.isOpen())).toEqual([false, false]);
  });

  it('are ended first where an origin has others, of which one was not needed for a second', () => {
    const waiting = pool(4);
    const lone = connection('a');
    const busy = [connection('b'), connection('b'), connection('b')];
    for (const each of [lone, ...busy]) waiting.put(each);
    now += 1_000;
    // Needed again: the other one is spare, and waits for longer than the only one of c.
    expect(waiting.take('b', ['1.1.1.1'])).toBe(busy[2]);
    waiting.put(connection('c'));
    waiting.put(connection('d'));
    expect([lone, ...busy].map((each) => each.isOpen())).toEqual([true, true, false, true]);
    // What came back just now is not spare yet: the one that has waited longest goes.
    if (busy[2]) waiting.put(busy[2]);
    expect([lone, ...busy].map((each) => each.isOpen())).toEqual([false, true, false, true]);
    waiting.destroyAll();
    expect(busy.map((each) => each.isOpen())).toEqual([false, false, false]);
  });

  it('are not spare any more when they are the only one left of their origin', () => {
    const waiting = pool(3);
    const oldest = connection('a');
    const [first, second] = [connection('b'), connection('b')];
    for (const each of [oldest, first, second]) waiting.put(each);
    waiting.remove(first);
    now += 1_000;
    waiting.put(connection('c'));
    waiting.put(connection('d'));
    expect([oldest.isOpen(), second.isOpen()]).toEqual([false, true]);
  });
});
