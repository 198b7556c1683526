import { type Delivery, deliverySchema, listSchema } from '@enterprise-api/shared/contracts';
import type { Arrival } from '../receiver.ts';
import { type Listener, request } from './api-request.ts';
import type { TourWork } from './work.ts';

/** The deliveries that arrived at the receiver. */
export interface ArrivalLog {
  add(arrival: Arrival): void;
  /** Resolves with the first verified delivery about this work, or with undefined when the signal aborts before one arrives. */
  waitForVerified(work: Pick<TourWork, 'id' | 'type'>, signal: AbortSignal): Promise<Arrival | undefined>;
  /** How many deliveries about this work had a wrong signature. */
  unverified(work: Pick<TourWork, 'id' | 'type'>): number;
}

export function createArrivalLog(): ArrivalLog {
  const arrivals: Arrival[] = [];
  const waiting = new Set<() => void>();
  const isAbout =
    ({ id, type }: Pick<TourWork, 'id' | 'type'>) =>
    (arrival: Arrival) =>
      arrival.workId === id && arrival.eventType === type;
  const verified = (work: Pick<TourWork, 'id' | 'type'>) =>
    arrivals.find((arrival) => arrival.verified && isAbout(work)(arrival));
  return {
    add: (arrival) => {
      arrivals.push(arrival);
      if (arrivals.length > 1_000) arrivals.shift();
      for (const look of waiting) look();
    },
    waitForVerified: (work, signal) =>
      new Promise((resolve) => {
        const look = () => {
          const found = verified(work);
          if (found === undefined && !signal.aborted) return;
          waiting.delete(look);
          signal.removeEventListener('abort', look);
          resolve(found);
        };
        waiting.add(look);
        signal.addEventListener('abort', look);
        look();
      }),
    unverified: (work) => arrivals.filter((arrival) => !arrival.verified && isAbout(work)(arrival)).length,
  };
}

/** The newest deliveries of a webhook, from the public API. */
export async function readHistory(call: Listener, webhookId: string, limit: number): Promise<Delivery[]> {
  const query = new URLSearchParams({ webhook_id: webhookId, limit: String(limit) });
  const page = await request(call, listSchema(deliverySchema), 'GET', `/v1/webhooks/deliveries?${query.toString()}`);
  return page.data;
}
