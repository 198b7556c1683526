import { startPeer } from '@enterprise-api/testkit';
import { cpuTimes } from '../measure/cpu.ts';
import type { Finding, RunContext } from '../workload.ts';
import { confirmed, targets } from './confirmed.ts';
import type { DirectCalls } from './direct-main.ts';

/** B1: signs and sends in a loop, without a queue or a database. */
export async function direct({ lab, sizes }: RunContext): Promise<Finding> {
  await using sender = await startPeer<DirectCalls>(new URL('./direct-main.ts', import.meta.url));
  const outbound = { urls: targets(lab), ca: lab.ca };
  await sender.call('deliver', { ...outbound, count: sizes.warmUp });
  return await confirmed(lab, sizes.direct, {
    cpu: () => cpuTimes({ sender: sender.pid }),
    send: () => sender.call('deliver', { ...outbound, count: sizes.direct }),
  });
}
