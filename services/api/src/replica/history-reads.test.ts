import type { Database } from '@enterprise-api/shared/ledger';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createHistoryReads, type HistoryReads } from './history-reads.ts';
import type { ReplicaRead } from './replica-reads.ts';

const primary = { name: 'primary' } as unknown as Database;
const replica = { name: 'replica' } as unknown as Database;
const placeOf = async (db: Database) => (db as unknown as { name: string }).name;

let nowMs: number;
let positions: number;
/** What the replica answers; undefined: what is read. */
let obstacle: Exclude<ReplicaRead<never>, { kind: 'read' }> | undefined;
let asked: number;
let isOurs: boolean;
let fallbacks: string[];
let obstacles: string[];
let read: HistoryReads;

beforeEach(() => {
  [nowMs, positions, asked, isOurs, fallbacks, obstacles, obstacle] = [0, 0, 0, true, [], [], undefined];
  read = createHistoryReads({
    primary,
    writtenPosition: async () => {
      positions += 1;
      return { timeline: 1, lsn: BigInt(positions) };
    },
    readFromReplica: async (_position, work) => {
      asked += 1;
      return obstacle ?? { kind: 'read', result: await work(replica) };
    },
    followsPrimary: async () => isOurs,
    clock: { monotonic: () => nowMs },
    onRead: () => undefined,
    onFallback: (reason) => fallbacks.push(reason),
    onObstacle: (reason) => obstacles.push(reason),
  });
});

/** Reads until the question that the first list has begun is answered. */
async function ready(): Promise<void> {
  await read(placeOf);
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  [positions, asked, fallbacks] = [0, 0, []];
}

describe('a list', () => {
  it('is read from the primary until the replica has said that it follows that primary', async () => {
    expect(await read(placeOf)).toBe('primary');
    await ready();
    expect(await read(placeOf)).toBe('replica');
  });

  it('is never read from a replica of another database', async () => {
    isOurs = false;
    await ready();
    nowMs = 5_000;
    await ready();
    expect(await read(placeOf)).toBe('primary');
    expect(obstacles).toContain('other_database');
  });

  it('asks the primary for its position together with the others of its turn of the event loop', async () => {
    await ready();
    await Promise.all([read(placeOf), read(placeOf), read(placeOf)]);
    expect(positions).toBe(1);
    await read(placeOf);
    expect(positions).toBe(2);
  });

  it('does not wait for a replica for which another list has just waited in vain; a second later it is asked again', async () => {
    await ready();
    obstacle = { kind: 'fallback', reason: 'lagging' };
    expect(await read(placeOf)).toBe('primary');
    obstacle = undefined;
    nowMs += 999;
    expect(await Promise.all([read(placeOf), read(placeOf)])).toEqual(['primary', 'primary']);
    expect([asked, positions]).toEqual([1, 1]);
    expect(fallbacks).toEqual(['lagging', 'lagging', 'lagging']);
    nowMs += 1;
    await ready();
    expect(await read(placeOf)).toBe('replica');
  });

  it('stays with the primary, unasked, for as long as the replica cannot be read', async () => {
    obstacle = { kind: 'fallback', reason: 'unavailable', error: new Error('refused') };
    for (let second = 0; second < 5; second++) {
      nowMs = second * 1_000;
      await ready();
      expect(await read(placeOf)).toBe('primary');
    }
    expect(obstacles).toEqual(Array.from({ length: 5 }, () => 'unavailable'));
  });

  it('that was canceled by a conflict with replay keeps no other from the replica', async () => {
    await ready();
    obstacle = { kind: 'fallback', reason: 'conflict' };
    expect(await read(placeOf)).toBe('primary');
    obstacle = undefined;
    expect(await read(placeOf)).toBe('replica');
  });
});
