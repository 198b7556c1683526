import { until } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { DatabaseUnavailableError } from './database-health.ts';
import { createDatabaseShare } from './database-share.ts';

const { signal } = new AbortController();

/** A share of one connection, unless another number is given, and what became of work that waited. */
function createShare({ connections = 1, waitMs = 20_000 } = {}) {
  const outcomes: string[] = [];
  const within = createDatabaseShare({ connections, waitMs, onWaited: (outcome) => outcomes.push(outcome) });
  return { outcomes, within };
}

describe('within its share, the work of an organization', () => {
  it('starts at once, and gives its result as it is', async () => {
    const { within, outcomes } = createShare();
    expect(within('org', signal, () => 'at once')).toBe('at once');
    expect(await within('org', signal, async () => 'later')).toBe('later');
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
        .then(() => within('org', signal, work))
        .catch(() => undefined);
    }
    expect(within('org', signal, () => 'next')).toBe('next');
    expect(outcomes).toEqual([]);
  });

  it('waits while the share is used up, in the order in which it came, and not for another organization', async () => {
    const { within, outcomes } = createShare({ connections: 2 });
    const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = ends.map(({ promise }) => within('org', signal, () => promise));
    const started: string[] = [];
    const waiting = ['a', 'b', 'c'].map((name) =>
      within('org', signal, async () => {
        started.push(name);
      }),
    );
    expect(within('another', signal, () => 'at once')).toBe('at once');
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
    const first = within('org', signal, () => end.promise);
    const notRun = () => {
      throw new Error('not to be called');
    };
    expect(await within('org', signal, notRun)).toMatchObject({ problem: 'rate_limited', retryAfterSeconds: 1 });
    expect(outcomes).toEqual(['refused']);
    end.resolve();
    await first;
    expect(within('org', signal, () => 'next')).toBe('next');
  });

  it('is not run when its request was answered while it waited, and takes no room then', async () => {
    const { within } = createShare();
    const end = Promise.withResolvers<void>();
    const first = within('org', signal, () => end.promise);
    let runs = 0;
    const waiting = Promise.resolve(
      within('org', AbortSignal.abort(new DatabaseUnavailableError()), () => runs++),
    ).catch((error: Error) => error.name);
    end.resolve();
    await first;
    expect(await waiting).toBe('DatabaseUnavailableError');
    await until('there is room', () => within('org', signal, () => 'next') === 'next');
    expect(runs).toBe(0);
  });
});
