import { describe, expect, it } from '@jest/globals';
import { ConnectionPool } from './connection.ts';

function connection(origin: string, peer = '1.1.1.1') {
  let open = true;
  const destroy = () => {
    open = false;
  };
  return { origin, peer, isOpen: () => open, destroy };
}

const pool = (maxIdle: number) => new ConnectionPool<ReturnType<typeof connection>>(maxIdle);

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
    const [old, unknown, current] = [
      connection('a', '1.1.1.1'),
      connection('a', 'not connected'),
      connection('a', '2.2.2.2'),
    ];
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
});
