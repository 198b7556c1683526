import type { Database } from '@enterprise-api/shared/ledger';
import { createLogger } from '@enterprise-api/shared/runtime';
import { openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { problem } from '../http/problem.ts';
import { createTransact, type Transact } from './unit-of-work.ts';

let db: Database;
let close: () => Promise<void>;
let transact: Transact;
beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
  const log = createLogger('test', 'silent');
  const transactAs = createTransact({ db, log, notify: async () => undefined, onEmitted: () => undefined });
  transact = transactAs({ actor: 'service', onBehalfOf: null, requestId: 'r' });
});
afterAll(() => close());

describe('who asked how the transaction ended', () => {
  /** The outcomes that were told, after the work ended as `end` says. */
  const told = async (end: (told: boolean[]) => unknown, within: 'transaction' | 'part' = 'transaction') => {
    const outcomes: boolean[] = [];
    const work: Parameters<Transact>[0] = async ({ settled }) => {
      settled((isCommitted) => outcomes.push(isCommitted));
      return end(outcomes);
    };
    const run = within === 'part' ? transact(async ({ part }) => void (await part(work))) : transact(work);
    await run.catch(() => undefined);
    return outcomes;
  };

  it('is told so after the commit, not before', async () => {
    expect(await told((outcomes) => expect(outcomes).toEqual([]))).toEqual([true]);
  });

  it.each([
    ['in a problem', () => problem('not_found')],
    ['in an error', () => Promise.reject(new Error('refused'))],
  ])('is told that nothing was written where the work ends %s', async (_how, end) => {
    expect(await told(end)).toEqual([false]);
  });

  it('is told that nothing was written where only the part with its work is rolled back', async () => {
    expect(await told(() => problem('not_found'), 'part')).toEqual([false]);
  });
});
