import { randomBytes } from 'node:crypto';
import {
  type Delivery,
  deliverySchema,
  type EventType,
  emittedEventsSchema,
  eventTypes,
  listSchema,
  subscribableEventTypeNames,
} from '@enterprise-api/shared/contracts';
import type { Arrival } from '../receiver.ts';
import { type Listener, request } from './api-request.ts';

/** An event that the tour emitted. */
export interface TourEvent {
  id: string;
  type: EventType;
}

/** Emits one event of each type that webhooks can subscribe to, one request each. */
export async function* emitOneOfEach(internal: Listener, organizationId: string): AsyncGenerator<TourEvent> {
  for (const type of subscribableEventTypeNames) {
    const body = { organization_id: organizationId, type, data: exampleData(type) };
    const answer = await request(internal, emittedEventsSchema, 'POST', '/internal/v1/events', body);
    const [event] = answer.data;
    if (event === undefined) throw new Error(`The API accepted ${type} without giving it an id.`);
    yield { id: event.id, type };
  }
}

/** The catalogue's example with a new id of the consultation or batch each time. */
function exampleData(type: EventType): Record<string, unknown> {
  const { example } = eventTypes[type];
  const field = Object.keys(example).find((name) => name.endsWith('_id'));
  if (field === undefined) return example;
  const prefix = String((example as Record<string, unknown>)[field]).split('_')[0];
  return { ...example, [field]: `${prefix}_${randomBytes(4).toString('hex')}` };
}

/** The deliveries that arrived at the receiver. */
export interface ArrivalLog {
  add(arrival: Arrival): void;
  /** Resolves with the event's first verified delivery, or with undefined when the signal aborts before one arrives. */
  waitForVerified(eventId: string, signal: AbortSignal): Promise<Arrival | undefined>;
  /** How many deliveries of this event had a wrong signature. */
  unverified(eventId: string): number;
}

export function createArrivalLog(): ArrivalLog {
  const arrivals: Arrival[] = [];
  const waiting = new Set<() => void>();
  const verified = (eventId: string) => arrivals.find((arrival) => arrival.verified && arrival.eventId === eventId);
  return {
    add: (arrival) => {
      arrivals.push(arrival);
      if (arrivals.length > 1_000) arrivals.shift();
      for (const look of waiting) look();
    },
    waitForVerified: (eventId, signal) =>
      new Promise((resolve) => {
        const look = () => {
          const found = verified(eventId);
          if (found === undefined && !signal.aborted) return;
          waiting.delete(look);
          signal.removeEventListener('abort', look);
          resolve(found);
        };
        waiting.add(look);
        signal.addEventListener('abort', look);
        look();
      }),
    unverified: (eventId) => arrivals.filter((arrival) => !arrival.verified && arrival.eventId === eventId).length,
  };
}

/** The newest deliveries of a webhook, from the public API. */
export async function readHistory(call: Listener, webhookId: string, limit: number): Promise<Delivery[]> {
  const query = new URLSearchParams({ webhook_id: webhookId, limit: String(limit) });
  const page = await request(call, listSchema(deliverySchema), 'GET', `/v1/webhooks/deliveries?${query.toString()}`);
  return page.data;
}
