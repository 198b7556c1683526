import { ledgerProblems } from '../measure/audit.ts';
import { deliver, deliveryFigures } from '../measure/deliver.ts';
import { emission } from '../stage/emission.ts';
import { payloads } from '../stage/requests.ts';
import { type BenchStage, openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';
import { fanOutShape } from './full-load.ts';

/** The part of W1's and W2's events that is sent with each payload. */
const part = 1 / 4;

/** W6: W1 and W2 with 20 KiB of random words, against 1 KiB in the same processes. */
export async function large({ lab, sizes, setting, round }: RunContext): Promise<Finding> {
  await using stage = await openBenchStage(lab, { setting });
  const one = { webhooks: 1, connections: 50, warmUp: sizes.warmUp, events: sizes.events };
  const many = { ...fanOutShape, ...sizes.fanOut };
  const single = await comparePayloads(stage, { ...one, organizations: 1 }, round);
  const fanOut = await comparePayloads(stage, many, round);
  const succeeded = [one, many].map(({ warmUp, events, webhooks }) => {
    return (Math.ceil(warmUp * part) + 2 * Math.ceil(events * part)) * webhooks;
  });
  const ledger = await ledgerProblems(
    stage.db,
    succeeded.reduce((sum, each) => sum + each, 0),
  );
  return {
    figures: { ...named('single', single.cpuUs), ...named('fan_out', fanOut.cpuUs) },
    problems: [...single.problems, ...fanOut.problems, ...ledger],
  };
}

interface Shape {
  organizations: number;
  webhooks: number;
  connections: number;
  warmUp: number;
  events: number;
}

async function comparePayloads(stage: BenchStage, shape: Shape, round: number) {
  const { organizationIds } = await subscribe(stage.db, stage.lab.receiverPort, shape);
  const expected = { webhooksPerEvent: shape.webhooks };
  const run = (payloadBytes: number, count: number) => {
    const { closed } = emission(stage, organizationIds, { payloadBytes });
    return deliver(stage, closed(Math.ceil(count * part), shape.connections), expected);
  };
  const { problems } = await run(payloads.usual, shape.warmUp);
  const cpuUs = { usual: Number.NaN, large: Number.NaN };
  const order = ['usual', 'large'] as const;
  for (const payload of round % 2 === 1 ? order : order.toReversed()) {
    const measured = await run(payloads[payload], shape.events);
    cpuUs[payload] = deliveryFigures(measured).cpu_us ?? Number.NaN;
    problems.push(...measured.problems);
  }
  return { cpuUs, problems };
}

function named(name: string, { usual, large }: { usual: number; large: number }): Record<string, number> {
  return { [`${name}_usual_us`]: usual, [`${name}_large_us`]: large, [`${name}_ratio`]: large / usual };
}
