import { describe, expect, it } from '@jest/globals';
import { createGatheredFanOut } from './gathered-fan-out.ts';

/** A gathered fan-out whose statements end when the test says so. */
function controlled() {
  const statements: { ids: readonly string[]; end: (result: number | 'no_capacity' | Error) => void }[] = [];
  const errors: unknown[] = [];
  const started: (() => void)[] = [];
  const fanOut = {
    fanOutEvents: (ids: readonly string[]) => {
      const { promise, resolve, reject } = Promise.withResolvers<number | 'no_capacity'>();
      const end = (result: number | 'no_capacity' | Error) =>
        result instanceof Error ? reject(result) : resolve(result);
      statements.push({ ids, end });
      started.shift()?.();
      return promise;
    },
  };
  const gathered = createGatheredFanOut(fanOut, (error) => errors.push(error));
  const nextStatement = () => new Promise<void>((resolve) => started.push(resolve));
  /** Adds jobs of one event each, and waits until a statement has them. */
  const addAndStart = async (...ids: string[]) => {
    const start = nextStatement();
    await Promise.all(ids.map((id) => gathered.add([id])));
    await start;
  };
  return { gathered, statements, errors, nextStatement, addAndStart };
}

describe('jobs whose events are fanned out together', () => {
  it('may be finished before their events are fanned out', async () => {
    const { gathered, statements, nextStatement } = controlled();
    const start = nextStatement();
    await gathered.add(['a']);
    expect(statements).toEqual([]);
    await start;
    expect(statements.map(({ ids }) => ids)).toEqual([['a']]);
    statements[0]?.end(1);
    await gathered.flush();
  });

  it('share a statement when they come together, or while two statements run', async () => {
    const { gathered, statements, nextStatement, addAndStart } = controlled();
    await addAndStart('a', 'b');
    await addAndStart('c');
    await Promise.all([gathered.add(['d']), gathered.add(['e', 'f'])]);
    await new Promise(setImmediate);
    await gathered.add(['g']);
    const third = nextStatement();
    statements[0]?.end(2);
    await third;
    expect(statements.map(({ ids }) => ids)).toEqual([['a', 'b'], ['c'], ['d', 'e', 'f', 'g']]);
    for (const { end } of statements) end(1);
    await gathered.flush();
  });

  it('of large requests leave a statement to those of others, and do not share it', async () => {
    const { gathered, statements, nextStatement } = controlled();
    const large = (name: string) => Array.from({ length: 51 }, (_, index) => `${name}${index}`);
    await Promise.all(['a', 'b'].map((name) => gathered.add(large(name))));
    await new Promise(setImmediate);
    expect(statements.map(({ ids }) => ids.length)).toEqual([102]);
    await gathered.add(large('c'));
    const start = nextStatement();
    await gathered.add(['d']);
    await start;
    expect(statements.map(({ ids }) => ids.length)).toEqual([102, 1]);
    const third = nextStatement();
    statements[0]?.end(102);
    await third;
    expect(statements.at(2)?.ids).toEqual(large('c'));
    for (const { end } of statements) end(1);
    await gathered.flush();
  });

  it('do not fail when their fan-out fails, which is reported, and the next ones are fanned out', async () => {
    const { gathered, statements, errors, addAndStart } = controlled();
    await addAndStart('a');
    statements[0]?.end(new Error('away'));
    await gathered.flush();
    expect(errors).toEqual([new Error('away')]);
    await addAndStart('b');
    statements[1]?.end(1);
    await gathered.flush();
  });

  it('wait for their own fan-out when twenty others wait or run', async () => {
    const { gathered, statements, nextStatement, addAndStart } = controlled();
    await addAndStart('1');
    await addAndStart('2');
    for (let job = 3; job <= 20; job++) await gathered.add([String(job)]);
    let isTaken = false;
    const last = gathered.add(['21']).then(() => {
      isTaken = true;
    });
    const third = nextStatement();
    statements[0]?.end(1);
    await third;
    expect([isTaken, statements[2]?.ids.length]).toEqual([false, 19]);
    for (const { end } of statements) end(1);
    await last;
    await gathered.flush();
  });

  it('wait for their own fan-out after one that found no capacity, until one finds some', async () => {
    const { gathered, statements, nextStatement, addAndStart } = controlled();
    await addAndStart('a');
    statements[0]?.end('no_capacity');
    await gathered.flush();
    let isTaken = false;
    const start = nextStatement();
    const second = gathered.add(['b']).then(() => {
      isTaken = true;
    });
    await start;
    expect(isTaken).toBe(false);
    statements[1]?.end(1);
    await second;
    await addAndStart('c');
    statements[2]?.end(1);
    await gathered.flush();
  });
});
