import { describe, expect, it } from '@jest/globals';
import { schedulerBench as bench } from '../testing/scheduler-bench.ts';

type Bench = ReturnType<typeof bench>;

const host = { hostKey: 'host' };
const webhooks = Array.from({ length: 100 }, (_, n) => `webhook ${n}`);

/** What a worker has by default. */
const inProduction = () => bench({ permits: 100, concurrency: 20 });

/** All that the process offers is leased, for webhooks of one organization at one host. */
function lease({ scheduler, leases }: Bench, webhookIds: string[]) {
  const capacity = scheduler.capacity('due');
  const freeOf = new Map(capacity.webhookIds.map((id, index) => [id, capacity.free[index]]));
  const offered = webhookIds.flatMap((id) => leases(id, freeOf.get(id) ?? capacity.ofNewQueue, host));
  scheduler.accept(offered.slice(0, capacity.total));
}

/** The endpoints of these webhooks hang. @returns the most requests that were open at once */
function hang(made: Bench, webhookIds: string[], seconds = 10): number {
  let most = 0;
  for (let tick = 0; tick < seconds * 10; tick++) {
    lease(made, webhookIds);
    most = Math.max(most, made.running().length);
    made.pass(100);
  }
  return most;
}

describe('the webhooks of one organization at one host', () => {
  it.each([100, 50, 20, 10, 5])(
    'have at most 300 open requests there in a process when the first %i of 100 begin to hang and the others follow',
    (first) => {
      const made = inProduction();
      hang(made, webhooks.slice(0, first), 2);
      expect(hang(made, webhooks)).toBeLessThanOrEqual(300);
      expect(made.scheduler.figures.slow).toBeGreaterThanOrEqual(100);
    },
  );

  it('have at most 300 open requests there when all hang at once that have answered before', async () => {
    const made = inProduction();
    for (let round = 0; round < 10; round++) {
      lease(made, webhooks);
      await Promise.all(made.running().map((attempt) => attempt.end()));
    }
    expect(hang(made, webhooks)).toBeLessThanOrEqual(300);
  });

  it('do not wait for one of them that hangs', () => {
    const made = inProduction();
    made.scheduler.accept(made.leases('hanging', 20, host));
    made.scheduler.accept(made.leases('healthy', 10, host));
    expect(made.started('healthy')).toBe(10);
  });

  it('have one attempt in flight each while 100 are slow there, and go on', async () => {
    const made = inProduction();
    hang(made, webhooks.slice(0, 5));
    expect(made.running()).toHaveLength(100);
    made.scheduler.accept(made.leases('healthy', 10, host));
    for (let answered = 1; answered <= 10; answered++) {
      expect(made.running('healthy')).toHaveLength(1);
      await made.running('healthy')[0]?.end();
      expect(made.started('healthy')).toBe(Math.min(10, answered + 1));
    }
    await made.running()[0]?.end(false);
    made.scheduler.accept(made.leases('healthy', 10, host));
    expect(made.running('healthy')).toHaveLength(10);
  });

  it('limit neither the organization at other hosts nor others at this one', () => {
    const made = inProduction();
    hang(made, webhooks.slice(0, 20));
    made.scheduler.accept(made.leases('elsewhere', 10));
    made.scheduler.accept(made.leases('stranger', 10, { ...host, organizationId: 'other' }));
    expect([made.started('elsewhere'), made.started('stranger')]).toEqual([10, 10]);
  });

  it('count where their URL leads now', () => {
    const made = inProduction();
    hang(made, webhooks.slice(0, 20));
    made.scheduler.accept(made.leases('moved', 2, host));
    expect(made.started('moved')).toBe(1);
    made.scheduler.accept(made.leases('moved', 1, { hostKey: 'new host' }));
    expect(made.started('moved')).toBe(3);
  });
});
