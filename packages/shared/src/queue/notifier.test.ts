import { elapsedMs, lowest } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { createNotifier, type NotificationOutcome } from './enqueue.ts';

function bench(queue: { add?: () => Promise<void>; waiting?: () => Promise<number> } = {}) {
  const jobs: string[][] = [];
  const wakeUps: string[][] = [];
  const outcomes: [NotificationOutcome, number][] = [];
  let now = 0;
  const notifier = createNotifier({
    clock: { now: () => now, monotonic: () => now },
    producer: {
      add: async (data) => {
        (data.more_in_outbox ? wakeUps : jobs).push(data.event_ids);
        await queue.add?.();
      },
      waitingCount: queue.waiting ?? (() => Promise.resolve(0)),
    },
    onOutcome: (outcome, events) => outcomes.push([outcome, events]),
  });
  /** Without an organization, each event has one of its own. */
  const notify = (ids: readonly string[], organizationId?: string) =>
    notifier.notify(ids.map((id) => ({ id, organizationId: organizationId ?? id })));
  return {
    notify,
    flush: notifier.flush,
    jobs,
    /** Jobs that wake the relay. */
    wakeUps,
    outcomes,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

describe('the notifier', () => {
  it('puts the events of one turn of the event loop into one job', async () => {
    const { notify, jobs } = bench();
    await Promise.all([notify(['a']), notify(['b', 'c']), notify([])]);
    await notify(['d']);
    expect(jobs).toEqual([['a', 'b', 'c'], ['d']]);
  });

  it('puts at most a hundred events into a job', async () => {
    const { notify, jobs } = bench();
    await notify(Array.from({ length: 250 }, (_, index) => String(index)));
    expect(jobs.map((job) => job.length)).toEqual([100, 100, 50]);
  });

  it('does not fail its caller when the queue fails', async () => {
    const { notify, outcomes } = bench({ add: () => Promise.reject(new Error('away')) });
    await notify(['a']);
    expect(outcomes).toEqual([['failed', 1]]);
  });

  it('says when every job of events so far is added', async () => {
    const adding = Promise.withResolvers<void>();
    const { notify, flush, outcomes } = bench({ add: () => adding.promise });
    void notify(['a']);
    const flushed = flush();
    adding.resolve();
    await flushed;
    expect(outcomes).toEqual([['added', 1]]);
  });

  it('waits at most 200 ms for a queue that does not answer', async () => {
    const waitMs = await lowest(500, () => {
      const { notify, outcomes } = bench({ add: () => new Promise(() => undefined) });
      return elapsedMs(async () => {
        await notify(['a']);
        expect(outcomes).toEqual([['timeout', 1]]);
      });
    });
    expect(waitMs).toBeGreaterThan(190);
    expect(waitMs).toBeLessThan(500);
  });

  it('waits no longer for the ten jobs of a thousand events than for one', async () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => String(index));
    const waitMs = await lowest(1_000, () => {
      const { notify, outcomes } = bench({ add: () => new Promise(() => undefined) });
      return elapsedMs(async () => {
        await notify(ids);
        expect(outcomes).toHaveLength(10);
      });
    });
    // One after the other, they would take two seconds.
    expect(waitMs).toBeLessThan(1_000);
  });

  it('adds no job while two hundred adds are unanswered, and adds again once they are answered', async () => {
    const silence = Promise.withResolvers<void>();
    const { notify, jobs, outcomes } = bench({ add: () => silence.promise });
    await notify(Array.from({ length: 20_000 }, (_, index) => String(index)));
    await notify(['left to the relay']);
    expect(jobs).toHaveLength(200);
    expect(outcomes.at(-1)).toEqual(['timeout', 1]);
    silence.resolve();
    await notify(['left to the relay, or not']);
    await notify(['added']);
    expect(jobs.at(-1)).toEqual(['added']);
  });

  it('adds no job while 5,000 wait, and adds again once the queue has drained', async () => {
    let waiting = 5_000;
    const { notify, jobs, outcomes, pass } = bench({ waiting: () => Promise.resolve(waiting) });
    await notify(['first, while the length is not known']);
    await notify(['second']);
    expect(outcomes.at(-1)).toEqual(['queue_full', 1]);
    waiting = 10;
    pass(1_001);
    await notify(['third, which starts a count']);
    await notify(['fourth']);
    expect(jobs.at(-1)).toEqual(['fourth']);
  });

  it('names no more than a share of what one organization emits at once, and has a worker look for the rest at once', async () => {
    const { notify, jobs, wakeUps, outcomes, pass } = bench();
    const flood = Array.from({ length: 1_000 }, (_, index) => `flood ${index}`);
    await Promise.all([notify(flood, 'much'), notify(['one'], 'little')]);
    expect(jobs.flat().sort()).toEqual([...flood.slice(0, 100), 'one'].sort());
    expect(wakeUps).toEqual([['flood 100']]);
    expect(outcomes).toContainEqual(['left_to_relay', 900]);
    await notify(['more'], 'much');
    expect(jobs.flat()).not.toContain('more');
    expect(wakeUps.at(-1)).toEqual(['more']);
    pass(100);
    await notify(['later'], 'much');
    expect(jobs.flat()).toContain('later');
    expect(wakeUps).toHaveLength(2);
  });

  it('puts the events of large requests into jobs of their own, which workers fan out apart', async () => {
    const { notify, jobs } = bench();
    const flood = Array.from({ length: 60 }, (_, index) => `flood ${index}`);
    await Promise.all([notify(['one'], 'little'), notify(flood, 'much'), notify(['two'], 'little')]);
    expect(jobs).toHaveLength(2);
    expect(jobs).toContainEqual(['one', 'two']);
    expect(jobs).toContainEqual(flood);
  });

  it('keeps jobs of small requests small, however many come at once', async () => {
    const { notify, jobs } = bench();
    await Promise.all(Array.from({ length: 120 }, (_, index) => notify([String(index)])));
    expect(jobs.map((job) => job.length)).toEqual([50, 50, 20]);
  });

  it('names fewer events of one organization while jobs wait, and no fewer of the others', async () => {
    const { notify, jobs, wakeUps } = bench({ waiting: () => Promise.resolve(20) });
    await notify(['first, while the length is not known'], 'other');
    const flood = Array.from({ length: 150 }, (_, index) => `flood ${index}`);
    await Promise.all([notify(flood, 'much'), notify(['one'], 'little')]);
    expect(jobs.slice(1).flat().sort()).toEqual([...flood.slice(0, 10), 'one'].sort());
    expect(wakeUps).toEqual([['flood 10']]);
  });

  it('names every event of organizations that emit less than their share', async () => {
    const { notify, flush, jobs, wakeUps, pass } = bench();
    for (let n = 0; n < 10; n++) {
      for (let index = 0; index < 250; index++) void notify([`${n} ${index}`], 'org');
      await flush();
      pass(100);
    }
    expect(jobs.flat()).toHaveLength(2_500);
    expect(wakeUps).toEqual([]);
    for (let index = 0; index < 251; index++) void notify([`beyond ${index}`], 'org');
    await flush();
    expect(wakeUps).toEqual([['beyond 250']]);
  });
});
