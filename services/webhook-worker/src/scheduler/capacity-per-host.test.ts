import { describe, expect, it } from '@jest/globals';
import { schedulerBench as bench } from '../testing/scheduler-bench.ts';
import { recentLimitPerHost } from './endpoint-queue.ts';

type Bench = ReturnType<typeof bench>;

const hanging = (count: number) => Array.from({ length: count }, (_, index) => `hanging ${index}`);
const ofHost = ({ lease }: Bench, webhookIds: string[], each: number) =>
  webhookIds.flatMap((id) => Array.from({ length: each }, () => lease(id, undefined, 'host')));
const running = ({ scheduler }: Bench) => scheduler.figures.running;

/** Webhooks of one host of which an attempt each has become slow and ended with a timeout. */
async function degrade(made: Bench, webhookIds: string[]): Promise<void> {
  for (const id of webhookIds) {
    made.scheduler.accept(ofHost(made, [id], 1));
    made.pass(1_001);
    made.scheduler.startEligible();
    await made.running.at(-1)?.end(true);
  }
  made.running.length = 0;
}

/** An attempt of a webhook of the host is answered at once. */
async function answerQuickly(made: Bench, webhookId: string): Promise<void> {
  made.scheduler.accept(ofHost(made, [webhookId], 1));
  const index = made.running.findLastIndex(({ lease }) => lease.webhookId === webhookId);
  const [entry] = made.running.splice(index, 1);
  entry?.answer();
  await entry?.end();
}

/** A second in which every webhook has leases to start. */
function pressFor1s(made: Bench, webhookIds: string[]): void {
  made.scheduler.accept(ofHost(made, webhookIds, 5));
  made.pass(1_001);
  made.scheduler.startEligible();
}

describe('the limit per organization and host', () => {
  const twoFor = ({ lease }: ReturnType<typeof bench>, hostKey: string, webhooks: number) =>
    Array.from({ length: 2 * webhooks }, (_, index) => lease(`${hostKey}/${index % webhooks}`, 0, hostKey));
  const startedAt = ({ running }: ReturnType<typeof bench>, hostKey: string) =>
    running.filter((entry) => entry.lease.hostKey === hostKey).length;

  it('counts all webhooks of one organization and host together, and each host separately', () => {
    const made = bench({ permits: 1_000, waiting: 20, recentPerHost: 20 });
    made.scheduler.accept([
      ...twoFor(made, 'a victim', 100),
      ...twoFor(made, 'b victim', 100),
      ...twoFor(made, 'a', 9),
    ]);
    expect([startedAt(made, 'a victim'), startedAt(made, 'b victim'), startedAt(made, 'a')]).toEqual([20, 20, 18]);
  });

  it('gives a permit to the next webhook in turn when an attempt has ended to the last byte', async () => {
    const made = bench({ permits: 1_000, recentPerHost: 2 });
    const { scheduler, running } = made;
    scheduler.accept(twoFor(made, 'victim', 3));
    running[0]?.answer();
    expect(running).toHaveLength(2);
    await running[0]?.end();
    await running[1]?.end();
    expect(running.map((entry) => entry.lease.webhookId.at(-1))).toEqual(['0', '1', '2', '0']);
    while (running.length < 6) await running[running.length - 1]?.end();
    expect(scheduler.figures.waiting).toBe(0);
  });

  it('is 20 recent attempts, or more where one webhook may have more in flight', () => {
    expect([recentLimitPerHost(5), recentLimitPerHost(20), recentLimitPerHost(50)]).toEqual([20, 20, 50]);
    const made = bench({ permits: 1_000, concurrency: 50, waiting: 100, recentPerHost: recentLimitPerHost(50) });
    made.scheduler.accept(ofHost(made, ['a'], 60));
    expect(running(made)).toBe(50);
  });

  it('counts attempts older than 1 s apart: they use up no permit of a healthy webhook', () => {
    const made = bench({ permits: 1_000, concurrency: 20, waiting: 100, recentPerHost: 20 });
    made.scheduler.accept(ofHost(made, ['hanging'], 20));
    made.scheduler.accept(ofHost(made, ['healthy'], 1));
    expect(made.started('healthy')).toBe(0);
    made.pass(1_001);
    made.scheduler.startEligible();
    expect(made.started('healthy')).toBe(1);
    // Leases of the healthy webhook are not released because its neighbour hangs.
    expect(made.released.filter(({ webhookId }) => webhookId === 'healthy')).toEqual([]);
    expect(made.capacityOf('due', 'healthy')).toBe(119);
  });

  it('gives one webhook at most half of the recent attempts while another one of the host waits', async () => {
    const made = bench({ permits: 1_000, concurrency: 20, waiting: 100, recentPerHost: 20 });
    made.scheduler.accept(ofHost(made, ['a'], 40));
    expect(made.started('a')).toBe(20);
    made.scheduler.accept(ofHost(made, ['b'], 40));
    for (const entry of made.running.slice(0, 10)) await entry.end();
    expect([made.started('a'), made.started('b')]).toEqual([20, 10]);
  });

  it('leaves three quarters of the recent attempts to webhooks that are not degraded', async () => {
    const made = bench({ permits: 1_000, concurrency: 20, waiting: 100, recentPerHost: 20 });
    await degrade(made, hanging(20));
    made.scheduler.accept(ofHost(made, hanging(20), 5));
    expect(running(made)).toBe(5);
    made.scheduler.accept(ofHost(made, ['healthy', 'too'], 20));
    expect([running(made), made.started('healthy'), made.started('too')]).toEqual([20, 8, 7]);
  });

  it('has at most 5 slow attempts per degraded webhook and 100 in all, and starts webhooks beside them that have answered quickly', async () => {
    const made = bench({ permits: 1_000, concurrency: 20, waiting: 100, recentPerHost: 20 });
    await degrade(made, hanging(40));
    pressFor1s(made, hanging(40));
    await answerQuickly(made, 'healthy');
    for (let second = 1; second < 30; second++) pressFor1s(made, hanging(40));
    expect(made.scheduler.figures).toMatchObject({ running: 100, slow: 100, waiting: 0 });
    expect(Math.max(...hanging(40).map((id) => made.started(id)))).toBeLessThanOrEqual(5);
    made.scheduler.accept(ofHost(made, ['healthy'], 3));
    expect(made.started('healthy')).toBe(1);
    made.running.at(-1)?.answer();
    await made.running.at(-1)?.end();
    expect(made.started('healthy')).toBe(2);
  });

  it('starts no webhook beside 100 slow attempts that has not answered quickly within 5 minutes, until one ends', async () => {
    const made = bench({ permits: 1_000, concurrency: 20, waiting: 100, recentPerHost: 20 });
    await degrade(made, hanging(20));
    pressFor1s(made, hanging(20));
    await answerQuickly(made, 'forgotten');
    made.pass(5 * 60_000);
    for (let second = 0; second < 25; second++) pressFor1s(made, hanging(20));
    made.scheduler.accept(ofHost(made, ['forgotten', 'unknown'], 1));
    expect([made.started('forgotten'), made.started('unknown')]).toEqual([0, 0]);
    expect(made.capacityOf('due', 'unknown')).toBe(0);
    await made.running.at(-1)?.end(true);
    expect([made.started('forgotten'), made.started('unknown')]).toEqual([1, 1]);
  });

  it('has at most 120 attempts when a whole host hangs at once for webhooks that have not answered before', () => {
    const made = bench({ permits: 1_000, concurrency: 20, waiting: 100, recentPerHost: 20 });
    for (let second = 0; second < 30; second++) pressFor1s(made, hanging(second < 10 ? 20 : 100));
    expect(running(made)).toBeGreaterThanOrEqual(100);
    expect(running(made)).toBeLessThanOrEqual(120);
  });

  it('offers the few permits of degraded webhooks once, to each of them in turn', async () => {
    const made = bench({ permits: 1_000, concurrency: 20, waiting: 100, recentPerHost: 20 });
    const ids = hanging(4);
    await degrade(made, ids);
    const offered = () => ids.map((id) => made.capacityOf('due', id));
    expect(offered()).toEqual([5, 0, 0, 0]);
    made.scheduler.accept(ofHost(made, ['hanging 0'], 2));
    expect(offered()).toEqual([0, 3, 0, 0]);
  });

  it('releases what waits for a degraded webhook once its host has 100 slow attempts, and nothing of others', async () => {
    const made = bench({ permits: 1_000, concurrency: 20, waiting: 100, recentPerHost: 20 });
    await degrade(made, hanging(21));
    pressFor1s(made, hanging(20));
    await answerQuickly(made, 'healthy');
    for (let second = 1; second < 25; second++) pressFor1s(made, hanging(20));
    made.released.length = 0;
    made.scheduler.accept(ofHost(made, ['hanging 20', 'healthy'], 3));
    made.scheduler.startEligible();
    expect(made.released.map(({ webhookId }) => webhookId)).toEqual(['hanging 20', 'hanging 20', 'hanging 20']);
    expect([made.started('healthy'), made.scheduler.figures.waiting]).toEqual([1, 2]);
  });

  it('counts a webhook at its new host after its URL changed, and releases what was leased for the old one', () => {
    const made = bench({ permits: 1_000, concurrency: 2, waiting: 100, recentPerHost: 2 });
    made.scheduler.accept(ofHost(made, ['a'], 5));
    made.scheduler.accept([made.lease('a', undefined, 'new host'), made.lease('b', undefined, 'new host')]);
    expect(made.released).toHaveLength(3);
    expect([made.started('a'), made.started('b'), made.scheduler.figures.waiting]).toEqual([2, 1, 1]);
  });
});
