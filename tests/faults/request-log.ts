import { createHash } from 'node:crypto';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import type { Answer, ReceivedRequest, Receiver } from '@enterprise-api/testkit';

/** One request as the receiver saw it, in the ids of the ledger. */
export interface SentRequest {
  deliveryId: string;
  /** As the header says it: `evt_…`. */
  publicEventId: string;
  /** As its header says. */
  attempt: number;
  path: string;
  /** When its last byte had arrived, in milliseconds since 1970. */
  at: number;
}

/** Every request that a receiver got, kept small: a campaign sees hundreds of thousands. */
export interface RequestLog {
  readonly sent: readonly SentRequest[];
  /** How the receiver answers from now on; 200 at once by default. */
  respond(answer: (request: SentRequest, received: ReceivedRequest) => Answer | Promise<Answer>): void;
  /** Deliveries of which two requests had different bodies. */
  readonly changedBodies: number;
  /** Requests beyond the first of each delivery. */
  duplicates(): number;
  deliveryCount(): number;
  /** The longest time without a request between two moments, in ms. */
  longestPauseMs(from: number, to: number): number;
}

export function createRequestLog(receiver: Receiver): RequestLog {
  const sent: SentRequest[] = [];
  const bodies = new Map<string, string>();
  let changedBodies = 0;
  let answer: Parameters<RequestLog['respond']>[0] = () => ({});
  receiver.respond((request) => {
    const entry = describe(request);
    sent.push(entry);
    const body = createHash('sha1').update(request.body).digest('base64');
    const first = bodies.get(entry.deliveryId);
    if (first === undefined) bodies.set(entry.deliveryId, body);
    else if (first !== body) changedBodies += 1;
    // The receiver keeps every request with its headers and body: 200,000 of them would not fit into memory.
    if (receiver.requests.length > 5_000) receiver.requests.length = 0;
    return answer(entry, request);
  });
  return {
    sent,
    respond: (next) => {
      answer = next;
    },
    get changedBodies() {
      return changedBodies;
    },
    duplicates: () => sent.length - bodies.size,
    deliveryCount: () => bodies.size,
    longestPauseMs: (from, to) => {
      const times = sent.map((request) => request.at).filter((at) => at > from && at < to);
      const moments = [from, ...times.sort((a, b) => a - b), to];
      return Math.max(...moments.slice(1).map((at, index) => at - (moments[index] ?? at)));
    },
  };
}

function describe({ headers, path, receivedAt }: ReceivedRequest): SentRequest {
  return {
    deliveryId: fromPublicId('dlv', headers['x-service-delivery-id'] ?? '') ?? 'none',
    publicEventId: headers['x-service-event-id'] ?? '',
    attempt: Number(headers['x-service-attempt']),
    path,
    at: receivedAt,
  };
}
