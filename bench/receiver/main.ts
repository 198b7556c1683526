import { answerCalls } from '@enterprise-api/testkit/peer-calls';
import { createBehaviour } from './behaviour.ts';
import type { Position, ReceiverCalls, Sample } from './calls.ts';
import { serveConnection } from './exchange.ts';
import { listen } from './listener.ts';
import type { RequestHead } from './request-head.ts';
import { RequestLog } from './request-log.ts';

// The receiver of all deliveries, in a process of its own so that its work is not counted.
let log = new RequestLog();
let decide = createBehaviour({});
/** Set while a call waits for a number of requests. */
let wanted: { left: number; reached: () => void } | undefined;

const calls: ReceiverCalls = {
  open: ({ certificates }) =>
    listen(certificates, (socket) => {
      log.connections += 1;
      serveConnection(socket, onRequest);
    }),
  script: (script) => {
    decide = createBehaviour(script);
  },
  reset: () => {
    log = new RequestLog();
    decide = createBehaviour({});
  },
  position: () => log.position(),
  untilAccepted: ({ since, accepted, withinMs }) => waitFor(since, accepted, withinMs),
  received: (since) => log.since(since),
};
answerCalls(calls);

function onRequest(head: RequestHead, sample: () => Sample): number {
  const status = decide(head.webhook, head.attempt);
  log.add(head, status);
  if (log.wantsSample()) log.keep(sample());
  if (wanted !== undefined && status === 200) {
    wanted.left -= 1;
    if (wanted.left === 0) wanted.reached();
  }
  return status;
}

async function waitFor(since: Position, accepted: number, withinMs: number): Promise<boolean> {
  const left = accepted - log.countAccepted(since.requests);
  if (left <= 0) return true;
  const reached = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => reached.resolve(false), withinMs);
  wanted = { left, reached: () => reached.resolve(true) };
  const answer = await reached.promise;
  clearTimeout(timer);
  wanted = undefined;
  return answer;
}
