import { setTimeout as pause } from 'node:timers/promises';
import { quantile } from '@enterprise-api/testkit';
import { difference, total } from '../measure/cpu.ts';
import { deliver } from '../measure/deliver.ts';
import { latencies } from '../measure/latency.ts';
import { emission } from '../stage/emission.ts';
import { type BenchStage, openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';

const rates = [20, 50, 100, 200, 500, 1_000];
const webhooksPerEvent = 1;

/** W1C: what an event costs, and how long it takes, at the rates of an ordinary day: one webhook, by the clock. */
export async function byRate({ lab, sizes, setting }: RunContext): Promise<Finding> {
  await using stage = await openBenchStage(lab, { setting });
  const { organizationIds } = await subscribe(stage.db, lab.receiverPort, { organizations: 1, webhooks: 1 });
  const { closed, open } = emission(stage, organizationIds);
  const warm = await deliver(stage, closed(sizes.warmUp, 50), { webhooksPerEvent });
  const figures: Record<string, number> = { idle_ms_per_second: await idleCost(stage, sizes.latencySeconds) };
  const problems = [...warm.problems];
  for (const rate of rates) {
    const delivered = await deliver(stage, open(rate, sizes.latencySeconds), { webhooksPerEvent });
    const { load, received, cpu, deliveries } = delivered;
    const values = latencies(load, received);
    figures[`cpu_us_at_${rate}`] = total(cpu) / deliveries;
    for (const [name, time] of Object.entries(cpu)) figures[`${name}_us_at_${rate}`] = time / deliveries;
    for (const part of [50, 99]) figures[`p${part}_at_${rate}`] = quantile(values, part / 100);
    problems.push(...delivered.problems);
  }
  return { figures, problems };
}

/** Milliseconds of CPU time per second of all processes, while nothing is emitted. */
async function idleCost(stage: BenchStage, seconds: number): Promise<number> {
  const before = stage.cpu();
  await pause(seconds * 1_000);
  return total(difference(before, stage.cpu())) / 1_000 / seconds;
}
