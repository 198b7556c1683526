import { describe, expect, it } from '@jest/globals';
import { ConnectionPool } from './connection.ts';

function connection(origin: string, peer: string | null = '1.1.1.1') {
  let open = true;
  const destroy = () => {
    open = false;
  };
  return { origin, peer, isOpen: () => open, destroy };
}

let now = 0;
const pool = (maxIdle: number) => new ConnectionPool<ReturnType<typeof connection>>(maxIdle, () => now);

describe('idle connections', () => {
  it('are reused once each, the last used first, for their origin alone', () => {
    const idle = pool(10);
    const [first, second, other] = [connection('a'), connection('a'), connection('b')];
    for (const each of [first, second, other]) idle.release(each);
    expect(idle.acquire('a', ['1.1.1.1'])).toBe(second);
    expect(idle.acquire('a', ['1.1.1.1'])).toBe(first);
    expect(idle.acquire('a', ['1.1.1.1'])).toBeUndefined();
    expect(idle.acquire('c', ['1.1.1.1'])).toBeUndefined();
    idle.release(first);
    expect(idle.acquire('a', ['1.1.1.1'])).toBe(first);
  });

  it('are reused only for an address that the host has now', () => {
    const idle = pool(10);
    const [old, unknown, current] = [connection('a', '1.1.1.1'), connection('a', null), connection('a', '2.2.2.2')];
    for (const each of [current, old, unknown]) idle.release(each);
    expect(idle.acquire('a', ['2.2.2.2', '3.3.3.3'])).toBe(current);
    expect(idle.acquire('a', ['2.2.2.2'])).toBeUndefined();
    expect(idle.acquire('a', ['1.1.1.1'])).toBe(old);
  });

  it('are not reused after they ended', () => {
    const idle = pool(10);
    const [ended, forgotten] = [connection('a'), connection('a')];
    idle.release(ended);
    idle.release(forgotten);
    ended.destroy();
    idle.remove(forgotten);
    expect(idle.acquire('a', ['1.1.1.1'])).toBeUndefined();
  });

  it('are bounded: the one that has been idle longest is closed', () => {
    const idle = pool(2);
    const [first, second, third] = [connection('a'), connection('b'), connection('c')];
    for (const each of [first, second, third]) idle.release(each);
    expect([first, second, third].map((each) => each.isOpen())).toEqual([false, true, true]);
    idle.destroyAll();
    expect([second, third].map((each) => each.isOpen())).toEqual([false, false]);
  });

  it('are closed first where an origin has others and one of them was idle for a second', () => {
    const idle = pool(4);
    const lone = connection('a');
    const busy = [connection('b'), connection('b'), connection('b')];
    for (const each of [lone, ...busy]) idle.release(each);
    now += 1_000;
    // One of b is in use again: its other one is spare, and is closed before the only one of c.
    expect(idle.acquire('b', ['1.1.1.1'])).toBe(busy[2]);
    idle.release(connection('c'));
    idle.release(connection('d'));
    expect([lone, ...busy].map((each) => each.isOpen())).toEqual([true, true, false, true]);
    // What came back just now is not spare yet: the one that has waited longest goes.
    if (busy[2]) idle.release(busy[2]);
    expect([lone, ...busy].map((each) => each.isOpen())).toEqual([false, true, false, true]);
    idle.destroyAll();
    expect(busy.map((each) => each.isOpen())).toEqual([false, false, false]);
  });

  it('are not spare any more when they are the only one left of their origin', () => {
    const idle = pool(3);
    const oldest = connection('a');
    const [first, second] = [connection('b'), connection('b')];
    for (const each of [oldest, first, second]) idle.release(each);
    idle.remove(first);
    now += 1_000;
    idle.release(connection('c'));
    idle.release(connection('d'));
    expect([oldest.isOpen(), second.isOpen()]).toEqual([false, true]);
  });
});
