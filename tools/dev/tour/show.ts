import { setTimeout as pause } from 'node:timers/promises';
import type { Delivery } from '@enterprise-api/shared/contracts';
import type { Terminal } from '../terminal.ts';
import type { Client } from './client.ts';
import { type ArrivalBook, emitOneOfEach, readHistory, type TourEvent } from './deliveries.ts';
import { historyTable } from './words.ts';

export interface ShowOptions {
  internal: Client;
  client: Client;
  organizationId: string;
  webhookId: string;
  arrivals: ArrivalBook;
  terminal: Terminal;
  signal: AbortSignal;
}

/** How the tour's deliveries went: no problems means that all of them were verified by the receiver. */
export interface Verdict {
  problems: string[];
  /** Deliveries came whose signature was not made with the secret we know. */
  secretIsWrong: boolean;
}

const arriveWithinMs = 30_000;
const recordedWithinMs = 10_000;
const rows = 10;

/** Emits one event of each type, shows the deliveries as they arrive, and the history afterwards. */
export async function showDeliveries(options: ShowOptions): Promise<Verdict> {
  const { terminal, signal, arrivals } = options;
  terminal.title('One event of each type, delivered and verified');
  const events: TourEvent[] = [];
  const missing: TourEvent[] = [];
  await terminal.step('Emitting events, waiting for their deliveries', async () => {
    for await (const event of emitOneOfEach(options.internal, options.organizationId)) events.push(event);
    const patience = AbortSignal.any([signal, AbortSignal.timeout(arriveWithinMs)]);
    const found = await Promise.all(events.map((event) => arrivals.waitForVerified(event.id, patience)));
    signal.throwIfAborted();
    missing.push(...events.filter((_, index) => found[index] === undefined));
    return `${events.length - missing.length} of ${events.length} deliveries verified by the receiver`;
  });
  const history = await recordedHistory(options, events);
  terminal.title('Delivery history (GET /v1/webhooks/deliveries)');
  for (const line of historyTable(history)) terminal.line(`  ${line}`);
  return {
    problems: missing.map((event) => problemOf(event, history, arrivals)),
    secretIsWrong: missing.some((event) => arrivals.unverified(event.id) > 0),
  };
}

/** The history with these events in their final state, or as it is after a while: outcomes are written in groups. */
async function recordedHistory(options: ShowOptions, events: readonly TourEvent[]): Promise<Delivery[]> {
  const until = performance.now() + recordedWithinMs;
  for (;;) {
    const history = await readHistory(options.client, options.webhookId, rows);
    const open = events.filter((event) => {
      const delivery = history.find((row) => row.event_id === event.id);
      return delivery === undefined || (delivery.status === 'pending' && delivery.attempt_count === 0);
    });
    if (open.length === 0 || performance.now() > until) return history;
    await pause(100, undefined, { signal: options.signal });
  }
}

function problemOf(event: TourEvent, history: readonly Delivery[], arrivals: ArrivalBook): string {
  const what = `${event.type} (${event.id})`;
  if (arrivals.unverified(event.id) > 0)
    return `${what}: arrived, but its signature does not match the webhook's secret`;
  const delivery = history.find((row) => row.event_id === event.id);
  if (delivery === undefined) return `${what}: the history shows no delivery of it; see logs/worker.log`;
  const reason = delivery.last_error ?? (delivery.attempt_count === 0 ? 'no attempt yet' : 'no error recorded');
  return `${what}: not verified within ${arriveWithinMs / 1_000} s; ${delivery.status}, ${reason}`;
}
