import { newUuid } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import { type CountsBatch, createUsageCounters, type UsedRequest } from './counters.ts';
import { hourMs } from './hours.ts';

const start = Date.UTC(2026, 10, 22, 7, 59, 59, 900);
const organizationId = newUuid();
const keyId = newUuid();
const request: UsedRequest = { organizationId, keyId, area: 'me', isRefused: false, bytesIn: 2, bytesOut: 30 };

function setUp(maxCounts?: number) {
  const state = { now: start, isAway: false, batches: [] as CountsBatch[], dropped: [] as number[] };
  const counters = createUsageCounters({
    write: async (batch) => {
      state.batches.push(structuredClone(batch));
      if (state.isAway) throw new Error('away');
    },
    clock: { now: () => state.now },
    onDropped: (requests) => state.dropped.push(requests),
    ...(maxCounts !== undefined && { maxCounts }),
  });
  return { state, counters };
}

describe('the counters of usage', () => {
  it('add up the requests of a key to an area in an hour, with their bytes and the refused ones among them', async () => {
    const { state, counters } = setUp();
    counters.count(request);
    counters.count({ ...request, isRefused: true });
    counters.count({ ...request, isRefused: true });
    counters.count(request);
    counters.count({ ...request, area: 'webhooks' });
    state.now += 100;
    counters.count(request);
    await counters.flush();
    const hour = start - (start % hourMs);
    const sum = { organizationId, keyId, area: 'me', hour, requests: 1, refused: 0, bytesIn: 2, bytesOut: 30 };
    expect(state.batches.map(({ counts }) => counts)).toEqual([
      [
        { ...sum, requests: 4, refused: 2, bytesIn: 8, bytesOut: 120 },
        { ...sum, area: 'webhooks' },
        { ...sum, hour: hour + hourMs },
      ],
    ]);
  });

  it('keep a batch that could not be written as it was, and write it before what came after it', async () => {
    const { state, counters } = setUp();
    state.isAway = true;
    counters.count(request);
    await expect(counters.flush()).rejects.toThrow('away');
    counters.count(request);
    counters.count(request);
    state.isAway = false;
    await counters.flush();
    const [failed, again, next] = state.batches;
    expect(again).toEqual(failed);
    expect(next).toMatchObject({ writer: failed?.writer, sequence: 2, counts: [{ requests: 2 }] });
    await counters.flush();
    expect(state.batches).toHaveLength(3);
  });

  it('hold a limited number of sums while the database is away, and say how many requests were left out', async () => {
    const { state, counters } = setUp(3);
    state.isAway = true;
    counters.count(request);
    counters.count({ ...request, keyId: newUuid() });
    await expect(counters.flush()).rejects.toThrow('away');
    for (let index = 0; index < 5; index++) counters.count({ ...request, keyId: newUuid() });
    state.isAway = false;
    await counters.flush();
    expect(state.dropped).toEqual([4]);
    const written = state.batches.slice(1).flatMap(({ counts }) => counts);
    expect(written).toHaveLength(3);
    counters.count({ ...request, keyId: newUuid() });
    await counters.flush();
    expect(state.dropped).toEqual([4]);
  });
});
