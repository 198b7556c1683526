import type { Peer } from '@enterprise-api/testkit';
import type { Position, ReceiverCalls } from '../receiver/calls.ts';

/** After this time without a request the rest is lost: the lease of a lost delivery runs out in 35 s. */
const patienceMs = 60_000;

/** Waits until `count` requests since a position were answered 200, for as long as more requests arrive. */
export async function untilReceived(
  receiver: Peer<ReceiverCalls>,
  question: { since: Position; accepted: number; withinMs?: number },
): Promise<void> {
  const { since, accepted, withinMs = patienceMs } = question;
  let seen = -1;
  while (!(await receiver.call('untilAccepted', { since, accepted, withinMs }))) {
    const { requests } = await receiver.call('position', null);
    if (requests === seen) return;
    seen = requests;
  }
}
