import { describe, expect, it } from '@jest/globals';
import { createDatabaseShare } from './database-share.ts';

/** A share of one connection, unless another number is given, and what became of work that waited. */
function createShare({ connections = 1, waitMs = 20_000 } = {}) {
  const outcomes: string[] = [];
  const within = createDatabaseShare({ connections, waitMs, onWaited: (outcome) => outcomes.push(outcome) });
  return { outcomes, within };
}

describe('within its share, the work of an organization', () => {
  it('starts at once, and gives its result as it is', async () => {
    const { within, outcomes } = createShare();
    expect(within('org', () => 'at once')).toBe('at once');
    expect(await within('org', async () => 'later')).toBe('later');
    expect(outcomes).toEqual([]);
  });

  it.each([
    ['ends', () => Promise.resolve()],
    ['fails', () => Promise.reject(new Error('broken'))],
    [
      'fails at once',
      () => {
        throw new Error('broken');
      },
    ],
  ])('makes room for the next when it %s', async (_how, work) => {
    const { within, outcomes } = createShare();
    for (let count = 0; count < 3; count++) {
      await Promise.resolve()
        .then(() => within('org', work))
        .catch(() => undefined);
    }
    expect(within('org', () => 'next')).toBe('next');
    expect(outcomes).toEqual([]);
  });

  it('waits while the share is used up, in the order in which it came, and not for another organization', async () => {
    const { within, outcomes } = createShare({ connections: 2 });
    const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = ends.map(({ promise }) => within('org', () => promise));
    const started: string[] = [];
    const waiting = ['a', 'b', 'c'].map((name) =>
      within('org', async () => {
        started.push(name);
      }),
    );
    expect(within('another', () => 'at once')).toBe('at once');
    expect(started).toEqual([]);
    for (const { resolve } of ends) resolve();
    await Promise.all([...first, ...waiting]);
    expect([started, outcomes]).toEqual([
      ['a', 'b', 'c'],
      ['granted', 'granted', 'granted'],
    ]);
  });

  it('is 429 after the wait, and not run', async () => {
    const { within, outcomes } = createShare({ waitMs: 5 });
    const end = Promise.withResolvers<void>();
    const first = within('org', () => end.promise);
    const notRun = () => {
      throw new Error('not to be called');
    };
    expect(await within('org', notRun)).toMatchObject({ problem: 'rate_limited', retryAfterSeconds: 1 });
    expect(outcomes).toEqual(['refused']);
    end.resolve();
    await first;
    expect(within('org', () => 'next')).toBe('next');
  });
});
