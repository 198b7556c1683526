import { quantile } from '@enterprise-api/testkit';
import { deliver } from '../measure/deliver.ts';
import { latencies } from '../measure/latency.ts';
import { emission } from '../stage/emission.ts';
import { openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';

const fixedRates = [50, 200, 1_000];
const webhooksPerEvent = 1;

/** W1L: the time from an event's due time until its receiver has it, at several rates. */
export async function latency({ lab, sizes, setting }: RunContext): Promise<Finding> {
  await using stage = await openBenchStage(lab, { setting });
  const { organizationIds } = await subscribe(stage.db, lab.receiverPort, { organizations: 1, webhooks: 1 });
  const { closed, open } = emission(stage, organizationIds);
  const warm = await deliver(stage, closed(sizes.warmUp, 50), { webhooksPerEvent });
  // A second load finds the highest rate of this machine at this moment.
  const saturated = await deliver(stage, closed(Math.ceil(sizes.warmUp / 2), 50), { webhooksPerEvent });
  const half = saturated.deliveries / saturated.seconds / 2;
  const figures: Record<string, number> = { half_rate: half };
  const problems = [...warm.problems, ...saturated.problems];
  for (const rate of [...fixedRates, half]) {
    const {
      load,
      received,
      problems: found,
    } = await deliver(stage, open(rate, sizes.latencySeconds), {
      webhooksPerEvent,
    });
    const values = latencies(load, received);
    const name = rate === half ? 'half' : String(rate);
    for (const part of [50, 99, 99.9]) figures[`p${part}_at_${name}`] = quantile(values, part / 100);
    problems.push(...found);
  }
  return { figures, problems };
}
