import type { Peer } from '../processes/peer.ts';
import type { Mark, ReceiverCalls } from '../receiver/calls.ts';

/** What nobody has sent for so long does not come any more: the lease of a lost delivery runs out in 35 s. */
const patienceMs = 60_000;

/** Waits until so many requests since a mark were answered 200, for as long as more of them come. */
export async function untilReceived(
  receiver: Peer<ReceiverCalls>,
  question: { since: Mark; accepted: number; withinMs?: number },
): Promise<void> {
  const { since, accepted, withinMs = patienceMs } = question;
  let seen = -1;
  while (!(await receiver.call('until', { since, accepted, withinMs }))) {
    const { requests } = await receiver.call('mark', null);
    if (requests === seen) return;
    seen = requests;
  }
}
