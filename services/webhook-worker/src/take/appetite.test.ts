import { describe, expect, it } from '@jest/globals';
import { Appetite } from './appetite.ts';
import type { Taken } from './queries.ts';

function taken(events: number, deliveries: number): Taken {
  return { events, deliveries, leases: [], leftDue: [], cursor: null };
}

/** An appetite that has learned that each event brings so many deliveries. */
async function used(room: () => number, fanOut: number): Promise<Appetite> {
  const appetite = new Appetite(room);
  await appetite.satisfy(10, async () => taken(10, 10 * fanOut));
  return appetite;
}

describe('the appetite of a process', () => {
  it('is its room divided by what events have brought lately', async () => {
    expect(new Appetite(() => 200).events()).toBe(200);
    expect((await used(() => 200, 50)).events()).toBe(4);
  });

  it('forgets what was long ago', async () => {
    const appetite = await used(() => 200, 100);
    for (let count = 0; count < 100; count++) await appetite.satisfy(1, async () => taken(1, 1));
    expect(appetite.events()).toBeGreaterThan(190);
  });

  it('is one event at least while there is any room, and none without', async () => {
    let room = 3;
    const appetite = await used(() => room, 100);
    expect(appetite.events()).toBe(1);
    room = 0;
    expect(appetite.events()).toBe(0);
  });

  it('is not more than before when events bring nothing', async () => {
    const appetite = await used(() => 200, 0);
    expect(appetite.events()).toBeLessThanOrEqual(2_000);
  });

  it('counts what is being taken as taken, until it is there or has failed', async () => {
    const appetite = await used(() => 200, 10);
    const answer = Promise.withResolvers<Taken>();
    const taking = appetite.satisfy(15, () => answer.promise);
    expect(appetite.events()).toBe(5);
    answer.reject(new Error('the database is away'));
    await expect(taking).rejects.toThrow('away');
    expect(appetite.events()).toBe(20);
  });
});
