import { type Delivered, deliver, deliveryFigures } from '../measure/deliver.ts';
import { emission } from '../stage/emission.ts';
import { openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';
import { fanOutShape } from './full-load.ts';

const failing = Array.from({ length: 10 }, (_, index) => index);
const excepted: ReadonlySet<number> = new Set(failing);
const failFirstAttemptsEvery = 10;

/** W4: ten of a hundred webhooks always answer 503, and every tenth first attempt at the others does; against none. */
export async function failingWebhooks({ lab, sizes, setting }: RunContext): Promise<Finding> {
  await using stage = await openBenchStage(lab, { setting });
  const { organizationIds } = await subscribe(stage.db, lab.receiverPort, fanOutShape);
  const { closed } = emission(stage, organizationIds);
  const load = closed(sizes.failing, fanOutShape.connections);
  const webhooksPerEvent = fanOutShape.webhooks;
  const warm = await deliver(stage, closed(sizes.fanOut.warmUp, fanOutShape.connections), { webhooksPerEvent });
  const sound = await deliver(stage, load, { webhooksPerEvent });
  await lab.receiver.call('script', { failing, failFirstAttemptsEvery });
  const faulty = await deliver(stage, load, { webhooksPerEvent, excepted });
  const { cpu_us: cpuUs = Number.NaN } = deliveryFigures(faulty);
  return {
    figures: {
      cpu_us: cpuUs,
      healthy_per_second: healthyPerSecond(faulty),
      without_faults_per_second: healthyPerSecond(sound),
      healthy_ratio: healthyPerSecond(faulty) / healthyPerSecond(sound),
    },
    problems: [...warm.problems, ...sound.problems, ...faulty.problems],
  };
}

/** First attempts at the healthy webhooks per second. Retries after their occasional 503 do not count. */
function healthyPerSecond({ load, received }: Delivered): number {
  let count = 0;
  let lastAt = load.startedAt;
  for (let index = 0; index < received.requests; index++) {
    if (received.attempts[index] !== 1 || excepted.has(received.webhooks[index] as number)) continue;
    count += 1;
    lastAt = received.at[index] as number;
  }
  return count / ((lastAt - load.startedAt) / 1_000);
}
