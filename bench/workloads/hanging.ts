import { quantile } from '@enterprise-api/testkit';
import { deliver } from '../measure/deliver.ts';
import { latencies } from '../measure/latency.ts';
import { emission } from '../stage/emission.ts';
import { openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';
import { fanOutShape } from './full-load.ts';

const eventsPerSecond = 20;
const hanging = 0;
const excepted: ReadonlySet<number> = new Set([hanging]);

/** W5: one of 100 webhooks accepts connections and never answers; the latency of the other 99. */
export async function hangingWebhook({ lab, sizes, setting }: RunContext): Promise<Finding> {
  await using stage = await openBenchStage(lab, { setting });
  const { organizationIds } = await subscribe(stage.db, lab.receiverPort, fanOutShape);
  const { closed, open } = emission(stage, organizationIds);
  const webhooksPerEvent = fanOutShape.webhooks;
  const warm = await deliver(stage, closed(sizes.fanOut.warmUp, fanOutShape.connections), { webhooksPerEvent });
  const load = open(eventsPerSecond, sizes.hangingSeconds);
  const sound = await deliver(stage, load, { webhooksPerEvent });
  await lab.receiver.call('script', { hanging: [hanging] });
  const faulty = await deliver(stage, load, { webhooksPerEvent, excepted });
  const [before, during] = [sound, faulty].map((each) => latencies(each.load, each.received, (w) => w !== hanging));
  const figures: Record<string, number> = {};
  for (const part of [50, 99]) {
    figures[`p${part}_without`] = quantile(before ?? [], part / 100);
    figures[`p${part}_with`] = quantile(during ?? [], part / 100);
    figures[`p${part}_ratio`] = (figures[`p${part}_with`] ?? 0) / (figures[`p${part}_without`] ?? 0);
  }
  return { figures, problems: [...warm.problems, ...sound.problems, ...faulty.problems] };
}
