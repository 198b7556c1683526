import { setTimeout as pause } from 'node:timers/promises';
import { quantile } from '@enterprise-api/testkit';
import { openQueueAtRate } from '../baselines/queue-at-rate.ts';
import { difference, total } from '../measure/cpu.ts';
import { deliver } from '../measure/deliver.ts';
import { latencies } from '../measure/latency.ts';
import { openBareStatements } from '../measure/statements-at-rate.ts';
import { emission } from '../stage/emission.ts';
import { type BenchStage, openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';

const rates = [20, 50, 100, 200, 500, 1_000];
const webhooksPerEvent = 1;
/** What the machine makes of bare statements and of B2 is seen in a quarter of the time. */
const calibrationShare = 4;

/**
 * W1C: what an event costs, and how long it takes, at the rates of an ordinary day: one webhook, by the clock. Behind each
 * rate come bare statements and B2 at the same rate: a machine's times at rest differ much from those under load.
 */
export async function byRate({ lab, sizes, setting }: RunContext): Promise<Finding> {
  await using stage = await openBenchStage(lab, { setting });
  const { organizationIds } = await subscribe(stage.db, lab.receiverPort, { organizations: 1, webhooks: 1 });
  const { closed, open } = emission(stage, organizationIds);
  const warm = await deliver(stage, closed(sizes.warmUp, 50), { webhooksPerEvent });
  const figures: Record<string, number> = { idle_ms_per_second: await idleCost(stage, sizes.latencySeconds) };
  const problems = [...warm.problems];
  await using statements = await openBareStatements(stage.databaseUrl, lab.stores.postgres.pid);
  await using baseline = await openQueueAtRate(lab, stage.databaseUrl, Math.round(sizes.warmUp / 2));
  for (const rate of rates) {
    const delivered = await deliver(stage, open(rate, sizes.latencySeconds), { webhooksPerEvent });
    const { load, received, cpu, deliveries } = delivered;
    const values = latencies(load, received);
    figures[`cpu_us_at_${rate}`] = total(cpu) / deliveries;
    for (const [name, time] of Object.entries(cpu)) figures[`${name}_us_at_${rate}`] = time / deliveries;
    for (const part of [50, 99]) figures[`p${part}_at_${rate}`] = quantile(values, part / 100);
    problems.push(...delivered.problems);
    const seconds = Math.max(1, sizes.latencySeconds / calibrationShare);
    Object.assign(figures, await statements.at(rate, seconds), await baseline.at(rate, seconds));
  }
  return { figures, problems };
}

/** Milliseconds of CPU time per second of all processes, while nothing is emitted. */
async function idleCost(stage: BenchStage, seconds: number): Promise<number> {
  const before = stage.cpu();
  await pause(seconds * 1_000);
  return total(difference(before, stage.cpu())) / 1_000 / seconds;
}
