import { createLogger } from '@enterprise-api/shared/runtime';
import { elapsedMs, lowest } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import type { Outcome, Recorded } from './outcome.ts';
import { OutcomeBatcher } from './outcome-batcher.ts';

const silent = createLogger('test', 'silent');
const nothing: Recorded = { failing: [], circuitOpened: [] };

function outcome(attemptId: string, excerpt: string | null = null): Outcome {
  return {
    deliveryId: `delivery of ${attemptId}`,
    webhookId: 'webhook',
    eventType: 'batch.failed',
    round: 0,
    attemptId,
    number: 1,
    result: 'delivered',
    delayMs: 0,
    holdForMs: null,
    countsForHealth: true,
    countsForBreaker: false,
    manual: false,
    startedAt: new Date(0),
    durationMs: 1,
    lagMs: null,
    statusCode: 200,
    error: null,
    errorMessage: null,
    excerpt,
    remoteAddress: null,
    responseHeaders: null,
    webhookVersion: 1,
    timings: { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null },
  };
}

const sqlError = (code: string) => Object.assign(new Error('refused'), { code });

function controlled(record: (outcomes: Outcome[], call: number) => Promise<Recorded>) {
  let now = 0;
  let calls = 0;
  const written: Outcome[] = [];
  const disabled: unknown[] = [];
  const circuitsOpened: string[] = [];
  let dropped = 0;
  const batcher = new OutcomeBatcher({
    log: silent,
    clock: { now: () => now, monotonic: () => now },
    record: async (outcomes) => {
      calls += 1;
      const answer = await record(outcomes, calls);
      written.push(...outcomes);
      return answer;
    },
    scheduler: { noteRecorded: () => undefined, releaseWaiting: (webhookId) => void circuitsOpened.push(webhookId) },
    autoDisable: { disable: async (...webhook) => void disabled.push(webhook) },
    onDropped: (count) => {
      dropped += count;
    },
  });
  return {
    batcher,
    written,
    disabled,
    circuitsOpened,
    calls: () => calls,
    dropped: () => dropped,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

describe('the outcome batcher', () => {
  it('records what comes together in one statement', async () => {
    const { batcher, written, calls } = controlled(async () => nothing);
    for (const id of ['a', 'b', 'c']) batcher.add(outcome(id));
    await batcher.flush(10_000_000);
    expect([written.map((each) => each.attemptId), calls()]).toEqual([['a', 'b', 'c'], 1]);
    expect(batcher.waiting).toBe(0);
  });

  it('records all that waits at once if deliveries above a limit wait for the record', () => {
    const { batcher, calls } = controlled(async () => nothing);
    batcher.add(outcome('a'));
    expect(calls()).toBe(0);
    batcher.add(outcome('b'), true);
    expect([calls(), batcher.waiting]).toEqual([1, 2]);
  });

  it('releases what waits for a webhook whose circuit has opened, and disables one that is gone or has failed for days', async () => {
    const { batcher, disabled, circuitsOpened } = controlled(async (outcomes) =>
      outcomes.length === 1 ? nothing : { failing: ['failing'], circuitOpened: ['open'] },
    );
    batcher.add(outcome('a'));
    await batcher.flush(10_000_000);
    expect([disabled, circuitsOpened]).toEqual([[], []]);
    batcher.add({ ...outcome('b'), result: 'retry', webhookId: 'failing', webhookVersion: 2 });
    batcher.add({ ...outcome('c'), result: 'retry', webhookId: 'failing', webhookVersion: 3 });
    batcher.add({ ...outcome('d'), result: 'stop', statusCode: 410, error: 'http_error' });
    await batcher.flush(10_000_000);
    expect(disabled).toEqual([
      ['webhook', 'gone', 1],
      ['failing', 'failing', 3],
    ]);
    expect(circuitsOpened).toEqual(['open']);
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
    const flushAfterFiveTries = async () => {
      const tried = Promise.withResolvers<void>();
      const { batcher, written, dropped, pass } = controlled(async (_outcomes, call) => {
        if (call === 5) tried.resolve();
        // The database comes back after nine seconds of a flush that may take ten.
        if (call > 6) pass(3_000);
        if (call < 9) throw sqlError('57P01');
        return nothing;
      });
      batcher.add(outcome('a'));
      await tried.promise;
      const flushMs = await elapsedMs(() => batcher.flush(10_000));
      expect([written.length, dropped()]).toEqual([1, 0]);
      return flushMs;
    };
    // Without a flush, the next try would follow after 1.6 s.
    expect(await lowest(1_500, flushAfterFiveTries)).toBeLessThan(1_500);
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
