import { describe, expect, it } from '@jest/globals';
import { type AnnouncementOutcome, createAnnouncer } from './notifier.ts';

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
  const announce = (ids: readonly string[], organizationId = 'org') =>
    announcer.announce(ids.map((id) => ({ id, organizationId })));
  return {
    announce,
    jobs,
    outcomes,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

describe('announcing', () => {
  it('puts the events of one turn of the event loop into one job', async () => {
    const { announce, jobs } = bench();
    await Promise.all([announce(['a']), announce(['b', 'c']), announce([])]);
    await announce(['d']);
    expect(jobs).toEqual([['a', 'b', 'c'], ['d']]);
  });

  it('puts at most a hundred events into a job', async () => {
    const { announce, jobs } = bench();
    await announce(Array.from({ length: 250 }, (_, index) => String(index)));
    expect(jobs.map((job) => job.length)).toEqual([100, 100, 50]);
  });

  it('never fails its caller when the queue does', async () => {
    const { announce, outcomes } = bench({ add: () => Promise.reject(new Error('away')) });
    await announce(['a']);
    expect(outcomes).toEqual([['failed', 1]]);
  });

  it('waits for a silent queue no longer than 200 ms', async () => {
    const { announce, outcomes } = bench({ add: () => new Promise(() => undefined) });
    const before = performance.now();
    await announce(['a']);
    expect(performance.now() - before).toBeLessThan(1_000);
    expect(outcomes).toEqual([['timeout', 1]]);
  });

  it('waits no longer for the ten jobs of a thousand events than for one', async () => {
    const { announce, outcomes } = bench({ add: () => new Promise(() => undefined) });
    const before = performance.now();
    await announce(Array.from({ length: 1_000 }, (_, index) => String(index)));
    expect(performance.now() - before).toBeLessThan(1_000);
    expect(outcomes).toHaveLength(10);
  });

  it('asks nothing more of a queue that owes two hundred answers, and again when it has given them', async () => {
    const silence = Promise.withResolvers<void>();
    const { announce, jobs, outcomes } = bench({ add: () => silence.promise });
    await announce(Array.from({ length: 20_000 }, (_, index) => String(index)));
    await announce(['kept back']);
    expect(jobs).toHaveLength(200);
    expect(outcomes.at(-1)).toEqual(['timeout', 1]);
    silence.resolve();
    await announce(['kept back too, or not']);
    await announce(['added']);
    expect(jobs.at(-1)).toEqual(['added']);
  });

  it('adds nothing to a queue with 5,000 waiting jobs, and again when it has drained', async () => {
    let waiting = 5_000;
    const { announce, jobs, outcomes, pass } = bench({ waiting: () => Promise.resolve(waiting) });
    await announce(['first, while the length is not known']);
    await announce(['second']);
    expect(outcomes.at(-1)).toEqual(['queue_full', 1]);
    waiting = 10;
    pass(1_001);
    await announce(['third, which asks']);
    await announce(['fourth']);
    expect(jobs.at(-1)).toEqual(['fourth']);
  });

  it('leaves to the relay what one organization emits beyond its share while jobs wait, and no other’s', async () => {
    const { announce, jobs, outcomes, pass } = bench({ waiting: () => Promise.resolve(20) });
    await announce(['first, while the length is not known'], 'much');
    const flood = Array.from({ length: 150 }, (_, index) => `flood ${index}`);
    await Promise.all([announce(flood, 'much'), announce(['one'], 'little')]);
    expect(jobs.slice(1).flat()).toEqual([...flood.slice(0, 100), 'one']);
    expect(outcomes).toContainEqual(['left_to_relay', 50]);
    await announce(['more'], 'much');
    expect(jobs.flat()).not.toContain('more');
    pass(1_000);
    await announce(['a second later'], 'much');
    expect(jobs.flat()).toContain('a second later');
  });

  it('leaves nothing to the relay while nobody waits', async () => {
    const { announce, jobs } = bench({ waiting: () => Promise.resolve(19) });
    await announce(['first, while the length is not known']);
    await announce(Array.from({ length: 1_000 }, (_, index) => String(index)));
    expect(jobs.flat()).toHaveLength(1_001);
  });
});
