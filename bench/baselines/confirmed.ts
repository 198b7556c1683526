import { type CpuTimes, difference, total } from '../measure/cpu.ts';
import { untilReceived } from '../measure/until-received.ts';
import type { Lab } from '../stage/lab.ts';
import { addressOf } from '../stage/subscriptions.ts';
import type { Finding } from '../workload.ts';

const webhooks = 100;

/** The URLs of W2's webhooks. */
export function targets(lab: Lab): string[] {
  return Array.from({ length: webhooks }, (_, index) => `https://${addressOf(index)}:${lab.receiverPort}/w/${index}`);
}

/** Measures the cost of a baseline per delivery that the receiver confirmed. */
export async function confirmed(
  { receiver }: Lab,
  count: number,
  { cpu, send }: { cpu: () => CpuTimes; send: () => Promise<void> },
): Promise<Finding> {
  const since = await receiver.call('position', null);
  const before = cpu();
  const startedAt = performance.now();
  await send();
  await untilReceived(receiver, { since, accepted: count });
  const seconds = (performance.now() - startedAt) / 1_000;
  const used = difference(before, cpu());
  const { requests } = await receiver.call('received', since);
  return {
    figures: {
      cpu_us: total(used) / count,
      ...Object.fromEntries(Object.entries(used).map(([name, time]) => [`${name}_us`, time / count])),
      per_second: count / seconds,
    },
    problems: requests === count ? [] : [`the receiver has ${requests} requests, not ${count}`],
  };
}
