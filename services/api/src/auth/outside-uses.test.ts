import { expect, it } from '@jest/globals';
import { createOutsideUses } from './outside-uses.ts';
import type { OutsideUses } from './queries.ts';

function createOne() {
  const time = { ms: 0 };
  const written: OutsideUses[] = [];
  const database = { isAway: false };
  const write = async (uses: readonly OutsideUses[]) => {
    if (database.isAway) throw new Error('The database is away.');
    written.push(...uses);
  };
  return { ...createOutsideUses(write, { now: () => time.ms }), time, written, database };
}

it('writes the requests of each key together, once', async () => {
  const { note, flush, time, written } = createOne();
  note('a', ['10.0.0.0/8'], '192.0.2.1');
  note('b', ['10.0.0.0/8'], '192.0.2.2');
  time.ms = 5;
  note('a', ['10.0.0.0/8'], '192.0.2.3');
  note('a', ['10.0.0.0/8'], '192.0.2.1');
  await flush();
  await flush();
  const list = { allowlist: ['10.0.0.0/8'] };
  expect(written).toEqual([
    { keyId: 'a', ...list, count: 3, lastAt: new Date(5), addresses: ['192.0.2.1', '192.0.2.3'] },
    { keyId: 'b', ...list, count: 1, lastAt: new Date(0), addresses: ['192.0.2.2'] },
  ]);
});

it('keeps requests that could not be written, in their order', async () => {
  const { note, flush, written, database } = createOne();
  database.isAway = true;
  note('a', ['10.0.0.1'], '192.0.2.1');
  const flushed = flush();
  note('a', ['10.0.0.1'], '192.0.2.2');
  await expect(flushed).rejects.toThrow('The database is away.');
  database.isAway = false;
  await flush();
  expect(written).toMatchObject([{ count: 2, addresses: ['192.0.2.2', '192.0.2.1'] }]);
});

it('does not count requests under a list that came later', async () => {
  const { note, flush, written } = createOne();
  note('a', ['10.0.0.1'], '192.0.2.1');
  note('a', ['10.0.0.2'], '192.0.2.2');
  await flush();
  expect(written).toMatchObject([{ allowlist: ['10.0.0.2'], count: 1, addresses: ['192.0.2.2'] }]);
});
