import { describe, expect, it } from '@jest/globals';
import { type AnnouncementOutcome, createAnnouncer } from './announcer.ts';

function bench(queue: { add?: () => Promise<void>; waiting?: () => Promise<number> } = {}) {
  const jobs: string[][] = [];
  const outcomes: [AnnouncementOutcome, number][] = [];
  let now = 0;
  const announcer = createAnnouncer({
    clock: { now: () => now, monotonic: () => now },
    producer: {
      add: async (data) => {
        jobs.push(data.event_ids);
        await queue.add?.();
      },
      waitingCount: queue.waiting ?? (() => Promise.resolve(0)),
    },
    onOutcome: (outcome, events) => outcomes.push([outcome, events]),
  });
  return {
    announcer,
    jobs,
    outcomes,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

describe('announcing', () => {
  it('puts the events of one turn of the event loop into one job', async () => {
    const { announcer, jobs } = bench();
    await Promise.all([announcer.announce(['a']), announcer.announce(['b', 'c']), announcer.announce([])]);
    await announcer.announce(['d']);
    expect(jobs).toEqual([['a', 'b', 'c'], ['d']]);
  });

  it('puts at most a hundred events into a job', async () => {
    const { announcer, jobs } = bench();
    await announcer.announce(Array.from({ length: 250 }, (_, index) => String(index)));
    expect(jobs.map((job) => job.length)).toEqual([100, 100, 50]);
  });

  it('never fails its caller when the queue does', async () => {
    const { announcer, outcomes } = bench({ add: () => Promise.reject(new Error('away')) });
    await announcer.announce(['a']);
    expect(outcomes).toEqual([['failed', 1]]);
  });

  it('waits for a silent queue no longer than 200 ms', async () => {
    const { announcer, outcomes } = bench({ add: () => new Promise(() => undefined) });
    const before = performance.now();
    await announcer.announce(['a']);
    expect(performance.now() - before).toBeLessThan(1_000);
    expect(outcomes).toEqual([['timeout', 1]]);
  });

  it('waits no longer for the ten jobs of a thousand events than for one', async () => {
    const { announcer, outcomes } = bench({ add: () => new Promise(() => undefined) });
    const before = performance.now();
    await announcer.announce(Array.from({ length: 1_000 }, (_, index) => String(index)));
    expect(performance.now() - before).toBeLessThan(1_000);
    expect(outcomes).toHaveLength(10);
  });

  it('asks nothing more of a queue that owes two hundred answers, and again when it has given them', async () => {
    const silence = Promise.withResolvers<void>();
    const { announcer, jobs, outcomes } = bench({ add: () => silence.promise });
    await announcer.announce(Array.from({ length: 20_000 }, (_, index) => String(index)));
    await announcer.announce(['kept back']);
    expect(jobs).toHaveLength(200);
    expect(outcomes.at(-1)).toEqual(['timeout', 1]);
    silence.resolve();
    await announcer.announce(['kept back too, or not']);
    await announcer.announce(['added']);
    expect(jobs.at(-1)).toEqual(['added']);
  });

  it('adds nothing to a queue with 5,000 waiting jobs, and again when it has drained', async () => {
    let waiting = 5_000;
    const { announcer, jobs, outcomes, pass } = bench({ waiting: () => Promise.resolve(waiting) });
    await announcer.announce(['first, while the length is not known']);
    await announcer.announce(['second']);
    expect(outcomes.at(-1)).toEqual(['queue_full', 1]);
    waiting = 10;
    pass(1_001);
    await announcer.announce(['third, which asks']);
    await announcer.announce(['fourth']);
    expect(jobs.at(-1)).toEqual(['fourth']);
  });
});
