import { describe, expect, it } from '@jest/globals';
import { createNotifier, type NotificationOutcome } from './enqueue.ts';

function bench(queue: { add?: () => Promise<void>; waiting?: () => Promise<number> } = {}) {
  const jobs: string[][] = [];
  let relayJobs = 0;
  const outcomes: [NotificationOutcome, number][] = [];
  let now = 0;
  const notifier = createNotifier({
    clock: { now: () => now, monotonic: () => now },
    producer: {
      add: async (data) => {
        if ('event_ids' in data) jobs.push(data.event_ids);
        else relayJobs += 1;
        await queue.add?.();
      },
      waitingCount: queue.waiting ?? (() => Promise.resolve(0)),
    },
    onOutcome: (outcome, events) => outcomes.push([outcome, events]),
  });
  const notify = (ids: readonly string[]) => notifier.notify(ids.map((id) => ({ id })));
  return {
    notify,
    flush: notifier.flush,
    jobs,
    /** How many jobs wake the relay and name no event. */
    relayJobs: () => relayJobs,
    outcomes,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => String(index));

describe('the notifier', () => {
  it('puts the events of one turn of the event loop into one job', async () => {
    const { notify, jobs } = bench();
    await Promise.all([notify(['a']), notify(['b', 'c']), notify([])]);
    await notify(['d']);
    expect(jobs).toEqual([['a', 'b', 'c'], ['d']]);
  });

  it('puts at most fifty events into a job', async () => {
    const { notify, jobs } = bench();
    await Promise.all(ids(120).map((id) => notify([id])));
    expect(jobs.map((job) => job.length)).toEqual([50, 50, 20]);
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

  it('adds no job while a thousand events wait for an answer, and adds again once they are answered', async () => {
    const silence = Promise.withResolvers<void>();
    const { notify, flush, jobs, outcomes } = bench({ add: () => silence.promise });
    for (const id of ids(20_000)) void notify([id]);
    await notify(['left to the relay']);
    expect(jobs.flat()).toHaveLength(1_000);
    expect(outcomes.at(-1)).toEqual(['timeout', 1]);
    silence.resolve();
    await flush();
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

  it('names no event of a request of more than fifty, and has a relay read them at once', async () => {
    const { notify, jobs, relayJobs, outcomes } = bench();
    await Promise.all([notify(ids(51)), notify(['one']), notify(ids(1_000))]);
    expect(jobs).toEqual([['one']]);
    expect(relayJobs()).toBe(1);
    expect(outcomes).toContainEqual(['left_to_relay', 51]);
    expect(outcomes).toContainEqual(['left_to_relay', 1_000]);
    await notify(ids(50));
    expect(jobs).toEqual([['one'], ids(50)]);
    expect(relayJobs()).toBe(1);
  });

  it('names no event while twenty jobs wait, and has a relay read them at once', async () => {
    let waiting = 20;
    const { notify, jobs, relayJobs, pass } = bench({ waiting: () => Promise.resolve(waiting) });
    await notify(['first, while the length is not known']);
    await Promise.all([notify(['a']), notify(['b', 'c']), notify([])]);
    expect(jobs).toEqual([['first, while the length is not known']]);
    expect(relayJobs()).toBe(1);
    waiting = 19;
    pass(1_001);
    await notify(['d, which starts a count']);
    await notify(['e']);
    expect(jobs.at(-1)).toEqual(['e']);
    expect(relayJobs()).toBe(2);
  });

  it('adds no job for no event', async () => {
    const { notify, jobs, relayJobs, outcomes } = bench();
    await notify([]);
    expect([jobs, relayJobs(), outcomes]).toEqual([[], 0, []]);
  });
});
