import { type BackoffLimits, createLogger } from '@enterprise-api/shared/runtime';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Outcome, Recorded } from './outcome.ts';
import { OutcomeBatcher } from './outcome-batcher.ts';

const silent = createLogger('test', 'silent');
const nothing: Recorded = { failing: [], circuitOpened: [] };

function outcome(attemptId: string, excerpt: string | null = null): Outcome {
  return {
    deliveryId: `delivery of ${attemptId}`,
    webhookId: 'webhook',
    round: 0,
    attemptId,
    number: 1,
    result: 'delivered',
    delayMs: 0,
    openCircuitForMs: null,
    countsForHealth: true,
    countsForBreaker: false,
    manual: false,
    startedAt: new Date(0),
    durationMs: 1,
    statusCode: 200,
    error: null,
    errorMessage: null,
    excerpt,
    webhookVersion: 1,
    timings: { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null },
  };
}

const sqlError = (code: string) => Object.assign(new Error('refused'), { code });

function controlled(
  record: (outcomes: Outcome[], call: number) => Promise<Recorded>,
  options: { backoff?: BackoffLimits } = {},
) {
  let now = 0;
  let calls = 0;
  const written: Outcome[] = [];
  const withFailures: string[][] = [];
  let dropped = 0;
  const batcher = new OutcomeBatcher({
    ...options,
    log: silent,
    clock: { now: () => now, monotonic: () => now },
    record: async (outcomes) => {
      calls += 1;
      const answer = await record(outcomes, calls);
      written.push(...outcomes);
      return answer;
    },
    onFailuresRecorded: (_answer, outcomes) => withFailures.push(outcomes.map(({ attemptId }) => attemptId)),
    onDropped: (count) => {
      dropped += count;
    },
  });
  return {
    batcher,
    written,
    withFailures,
    calls: () => calls,
    dropped: () => dropped,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

afterEach(() => {
  jest.useRealTimers();
});

describe('the outcome batcher', () => {
  it('records an outcome at once when none came for a while, and lets those that follow gather', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
    const sizes: number[] = [];
    const { batcher, pass } = controlled(async (outcomes) => {
      sizes.push(outcomes.length);
      return nothing;
    });
    batcher.add(outcome('a'));
    await turn();
    expect(sizes).toEqual([1]);
    for (const id of ['b', 'c', 'd']) {
      pass(10);
      batcher.add(outcome(id));
      await turn();
    }
    expect(sizes).toEqual([1]);
    await jest.advanceTimersByTimeAsync(25);
    expect(sizes).toEqual([1, 3]);
    pass(25);
    batcher.add(outcome('e'));
    await turn();
    expect(sizes).toEqual([1, 3, 1]);
  });

  it('records what comes together in one statement', async () => {
    const { batcher, written, calls } = controlled(async () => nothing);
    for (const id of ['a', 'b', 'c']) batcher.add(outcome(id));
    await batcher.flush(10_000_000);
    expect([written.map((each) => each.attemptId), calls()]).toEqual([['a', 'b', 'c'], 1]);
    expect(batcher.waiting).toBe(0);
  });

  it('reports what it has recorded when an attempt failed, and not when all have delivered', async () => {
    const { batcher, withFailures } = controlled(async () => nothing);
    for (const id of ['a', 'b']) batcher.add(outcome(id));
    await batcher.flush(10_000_000);
    expect(withFailures).toEqual([]);
    batcher.add(outcome('c'));
    batcher.add({ ...outcome('d'), result: 'stop', statusCode: 410, error: 'http_error' });
    await batcher.flush(10_000_000);
    expect(withFailures).toEqual([['c', 'd']]);
  });

  it('records at most two hundred outcomes in one statement', async () => {
    const sizes: number[] = [];
    const { batcher } = controlled(async (outcomes) => {
      sizes.push(outcomes.length);
      return nothing;
    });
    for (let index = 0; index < 450; index++) batcher.add(outcome(String(index)));
    await batcher.flush(10_000_000);
    expect(sizes).toEqual([200, 200, 50]);
  });

  it.each([
    ['a character that the encoding lacks', '22021'],
    ['a row that a limit refuses', '54000'],
    ['an error that a trigger raises', 'P0001'],
  ])('records all others when one outcome cannot be stored, and that one without its excerpt: %s', async (_, state) => {
    const { batcher, written, dropped } = controlled(async (outcomes) => {
      if (outcomes.some((each) => each.excerpt === 'bad')) throw sqlError(state);
      return nothing;
    });
    for (let index = 0; index < 9; index++) batcher.add(outcome(String(index), index === 4 ? 'bad' : 'good'));
    await batcher.flush(10_000_000);
    expect(written.map((each) => each.attemptId).sort()).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8']);
    expect(written.find((each) => each.attemptId === '4')?.excerpt).toBeNull();
    expect(dropped()).toBe(0);
  });

  it('tries again after a deadlock, also during a flush, with a pause in between', async () => {
    let isOver = false;
    const { batcher, written, calls } = controlled(async (_outcomes, call) => {
      if (!isOver && call < 1_000) throw sqlError('40P01');
      return nothing;
    });
    batcher.add(outcome('a'));
    setTimeout(() => {
      isOver = true;
    }, 20);
    await batcher.flush(10_000_000);
    expect(written).toHaveLength(1);
    expect(calls()).toBeLessThan(10);
  });

  it('keeps outcomes while the database is unavailable, reports that it is behind, and drops them after a minute', async () => {
    const { batcher, dropped, pass } = controlled(async () => {
      throw sqlError('57P01');
    });
    batcher.add(outcome('a'));
    const flushed = batcher.flush(10_000_000);
    expect(batcher.isBehind()).toBe(false);
    pass(1_500);
    expect([batcher.isBehind(), batcher.waiting]).toEqual([true, 1]);
    pass(60_000);
    await flushed;
    expect(dropped()).toBe(1);
    expect(batcher.isBehind()).toBe(false);
  });

  it('tries at once when a flush begins, and for as long as the flush may take', async () => {
    const tried = Promise.withResolvers<void>();
    const { batcher, written, dropped, pass } = controlled(
      async (_outcomes, call) => {
        tried.resolve();
        // The database comes back after nine seconds of a flush that may take ten.
        if (call > 1) pass(3_000);
        if (call < 5) throw sqlError('57P01');
        return nothing;
      },
      { backoff: { firstMs: 3_600_000, mostMs: 3_600_000 } },
    );
    batcher.add(outcome('a'));
    await tried.promise;
    await batcher.flush(10_000);
    expect([written.length, dropped()]).toEqual([1, 0]);
  });

  it('drops outcomes when the time of a flush is over, for a stop must not wait for the database', async () => {
    const { batcher, dropped } = controlled(async () => {
      throw sqlError('57P01');
    });
    batcher.add(outcome('a'));
    await batcher.flush(0);
    expect(dropped()).toBe(1);
  });
});
