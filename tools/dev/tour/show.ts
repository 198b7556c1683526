import { setTimeout as pause } from 'node:timers/promises';
import type { Delivery } from '@enterprise-api/shared/contracts';
import type { ApiClient } from '@enterprise-api/testkit';
import type { Terminal } from '../terminal.ts';
import { type ArrivalLog, emitOneOfEach, readHistory, type TourEvent } from './deliveries.ts';
import { historyTable } from './words.ts';

export interface ShowOptions {
  api: ApiClient;
  organizationId: string;
  webhookId: string;
  arrivals: ArrivalLog;
  terminal: Terminal;
  signal: AbortSignal;
}

/** The result of the tour. Without problems, the receiver has verified every delivery. */
export interface Verdict {
  problems: string[];
  /** True when a delivery arrived whose signature was not made with the secret that the demo knows. */
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
    for await (const event of emitOneOfEach(options.api.internal, options.organizationId)) events.push(event);
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(arriveWithinMs)]);
    const found = await Promise.all(events.map((event) => arrivals.waitForVerified(event.id, deadline)));
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

/** The history once every event's first attempt is recorded (outcomes are written in batches), or after 10 s as it is. */
async function recordedHistory(options: ShowOptions, events: readonly TourEvent[]): Promise<Delivery[]> {
  const deadline = performance.now() + recordedWithinMs;
  for (;;) {
    const history = await readHistory(options.api.call, options.webhookId, rows);
    const open = events.filter((event) => {
      const delivery = history.find((row) => row.event_id === event.id);
      return delivery === undefined || (delivery.status === 'pending' && delivery.attempt_count === 0);
    });
    if (open.length === 0 || performance.now() > deadline) return history;
    await pause(100, undefined, { signal: options.signal });
  }
}

function problemOf(event: TourEvent, history: readonly Delivery[], arrivals: ArrivalLog): string {
  const what = `${event.type} (${event.id})`;
  if (arrivals.unverified(event.id) > 0)
    return `${what}: arrived, but its signature does not match the webhook's secret`;
  const delivery = history.find((row) => row.event_id === event.id);
  if (delivery === undefined) return `${what}: the history has no delivery for it; see logs/worker.log`;
  const reason = delivery.last_error ?? (delivery.attempt_count === 0 ? 'no attempt yet' : 'no error recorded');
  return `${what}: not verified within ${arriveWithinMs / 1_000} s; ${delivery.status}, ${reason}`;
}
