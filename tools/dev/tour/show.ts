import { setTimeout as pause } from 'node:timers/promises';
import type { Delivery } from '@enterprise-api/shared/contracts';
import type { ApiClient } from '@enterprise-api/testkit';
import type { Terminal } from '../terminal.ts';
import { type ArrivalLog, readHistory } from './deliveries.ts';
import { historyTable } from './words.ts';
import { askForWork, type TourWork, untilWorkEnds } from './work.ts';

export interface ShowOptions {
  api: ApiClient;
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

/**
 * Asks the example service, through the public API, for work that ends in events of five types; polls it; shows the
 * deliveries as they arrive, and the history afterwards.
 */
export async function showDeliveries(options: ShowOptions): Promise<Verdict> {
  const { api, terminal, signal, arrivals } = options;
  terminal.title('Work that ends in events, delivered and verified');
  const earlier = new Set((await readHistory(api.call, options.webhookId, rows)).map((row) => row.id));
  const asked: TourWork[] = [];
  const missing: TourWork[] = [];
  await terminal.step('Asking for work, waiting for the deliveries of its events', async () => {
    for await (const work of askForWork(api.call)) {
      terminal.line(`  POST ${work.path.replace(/\/[^/]+$/, '')}  ${work.id}`);
      asked.push(work);
    }
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(arriveWithinMs)]);
    const found = await Promise.all(
      asked.map(async (work) => {
        terminal.line(`  GET ${work.path}  ${await untilWorkEnds(api.call, work, deadline)}`);
        return arrivals.waitForVerified(work, deadline);
      }),
    );
    signal.throwIfAborted();
    missing.push(...asked.filter((_, index) => found[index] === undefined));
    return `${asked.length - missing.length} of ${asked.length} deliveries verified by the receiver`;
  });
  const history = await recordedHistory(options, asked, earlier);
  terminal.title('Delivery history (GET /v1/webhooks/deliveries)');
  for (const line of historyTable(history)) terminal.line(`  ${line}`);
  const ours = history.filter((row) => !earlier.has(row.id));
  return {
    problems: missing.map((work) => problemOf(work, ours, arrivals)),
    secretIsWrong: missing.some((work) => arrivals.unverified(work) > 0),
  };
}

/** The history once every event's first attempt is recorded (outcomes are written in batches), or after 10 s as it is. */
async function recordedHistory(
  options: ShowOptions,
  asked: readonly TourWork[],
  earlier: ReadonlySet<string>,
): Promise<Delivery[]> {
  const deadline = performance.now() + recordedWithinMs;
  for (;;) {
    const history = await readHistory(options.api.call, options.webhookId, rows);
    const recorded = history.filter(
      (row) => !earlier.has(row.id) && (row.status !== 'pending' || row.attempt_count > 0),
    );
    const isComplete = asked.every((work) => recorded.some((row) => row.event_type === work.type));
    if (isComplete || performance.now() > deadline) return history;
    await pause(100, undefined, { signal: options.signal });
  }
}

/** @param history the deliveries of this run */
function problemOf(work: TourWork, history: readonly Delivery[], arrivals: ArrivalLog): string {
  const what = `${work.type} (${work.id})`;
  if (arrivals.unverified(work) > 0) return `${what}: arrived, but its signature does not match the webhook's secret`;
  const delivery = history.find((row) => row.event_type === work.type);
  if (delivery === undefined) {
    return `${what}: the history has no delivery for it; see logs/consultations.log and logs/worker.log`;
  }
  const reason = delivery.last_error ?? (delivery.attempt_count === 0 ? 'no attempt yet' : 'no error recorded');
  return `${what}: not verified within ${arriveWithinMs / 1_000} s; ${delivery.status}, ${reason}`;
}
