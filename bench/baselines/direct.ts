import { cpuTimes } from '../measure/cpu.ts';
import { startPeer } from '../processes/peer.ts';
import type { Finding, RunContext } from '../workload.ts';
import { confirmed, targets } from './confirmed.ts';
import type { DirectCalls } from './direct-main.ts';

/** B1: signed and sent in a loop, with no queue and no database. */
export async function direct({ lab, sizes }: RunContext): Promise<Finding> {
  await using sender = await startPeer<DirectCalls>(new URL('./direct-main.ts', import.meta.url));
  const outbound = { urls: targets(lab), ca: lab.ca };
  await sender.call('deliver', { ...outbound, count: sizes.warmUp });
  return await confirmed(lab, sizes.direct, {
    cpu: () => cpuTimes({ sender: sender.pid }),
    send: () => sender.call('deliver', { ...outbound, count: sizes.direct }),
  });
}
