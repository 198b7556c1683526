import type { Database } from '@enterprise-api/shared/ledger';
import { type Clock, createLoop, type Logger, type Loop, uuidTimeMs } from '@enterprise-api/shared/runtime';
import type { Tracing } from '@enterprise-api/shared/tracing';
import type { LeaseLoader } from '../leases/lease-loader.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { createPasses, type Passes } from '../passes.ts';
import type { Capacity, Scheduler } from '../scheduler/scheduler.ts';
import { recordFanOutSpans } from './fan-out-spans.ts';
import type { FannedOut } from './fanned-out.ts';
import { fanOutOverdueEvents, findOverdueEvents, organizationsPerRun } from './overdue-queries.ts';
import { fanOutOneByOne, isRefusedRow, type ParkingOptions, retryParkedEvents } from './parked-events.ts';
import { fanOutEvents } from './queries.ts';

export interface FanOutOptions {
  db: Database;
  clock: Clock;
  log: Pick<Logger, 'error'>;
  metrics: Pick<WorkerMetrics, 'eventsFannedOut' | 'deliveriesCreated'>;
  tracing?: Tracing | undefined;
  scheduler: Pick<Scheduler, 'startEligible' | 'capacity' | 'freeCapacity' | 'noteDueRows' | 'refill'>;
  leaseLoader: Pick<LeaseLoader, 'accept'>;
  leaseMs: number;
  maxAttempts: number;
  /** False while this process should not lease more deliveries. */
  mayLease: () => boolean;
  onRelayError: (error: unknown) => void;
}

/**
 * How a run of the relay ended. `again`: it found events, or completed a pass that an earlier run began. `soon`: this
 * process leased no deliveries of the events found, or other organizations remain.
 */
export type OverdueResult = 'again' | 'soon' | 'all_visited' | 'no_capacity';

/**
 * The relay fans out events of this age or older, because their jobs are late or lost. If the relay took younger
 * events, their jobs could still arrive and would find nothing. The relay runs every `relayEveryMs`, which varies by
 * 10 %. So the relay fans out an event without a job 0.6 to 1.7 s after its commit; 2 s are promised.
 */
const overdueAfterMs = 600;
const relayEveryMs = 1_000;
/** Usually an attempt ends sooner, frees capacity and wakes the relay. */
const soonMs = 100;
const relayDelaysMs: Record<OverdueResult, number> = {
  again: 0,
  // Writing deliveries faster than this process can send them would only take CPU time from sending.
  soon: soonMs,
  no_capacity: soonMs,
  all_visited: relayEveryMs,
};

export class FanOut {
  /** Fans out the events that no job has fanned out, so that the outbox empties even if the queue loses every job. */
  readonly relay: Loop;
  readonly #options: FanOutOptions;
  readonly #passes: Passes;
  #cursor: string | null = null;
  #leftInOutboxAt = Number.NEGATIVE_INFINITY;
  #relayWaitsForCapacity = false;
  /** The average of the last fan-out that found events, at least 1. */
  #deliveriesPerEvent = 1;

  constructor(options: FanOutOptions) {
    this.#options = options;
    this.#passes = createPasses(options.clock);
    this.relay = createLoop({
      onError: options.onRelayError,
      everyMs: relayEveryMs,
      run: async () => {
        if (!options.mayLease()) return relayEveryMs;
        const result = await this.fanOutOverdue();
        this.#relayWaitsForCapacity = result === 'no_capacity';
        return relayDelaysMs[result];
      },
    });
  }

  capacityFreed = (): void => {
    if (this.#relayWaitsForCapacity) this.relay.wake();
  };

  /**
   * Fans out as many events of a job as this process has capacity for. The other events stay in the outbox.
   *
   * @returns the number of events that this call fanned out, without events that other processes took; or
   *   `no_capacity`
   */
  async fanOutEvents(eventIds: readonly string[]): Promise<number | 'no_capacity'> {
    const admitted = eventIds.slice(0, this.#options.mayLease() ? this.#admittedEvents() : 0);
    if (admitted.length < eventIds.length) this.leaveToRelay();
    if (admitted.length === 0) return 'no_capacity';
    const { events } = await this.#fanOutNamed('job', admitted);
    return events;
  }

  /** Fans out the oldest events that no job has fanned out or that were left to the relay. Organizations alternate. */
  async fanOutOverdue(): Promise<OverdueResult> {
    const { db, clock } = this.#options;
    const limit = Math.min(organizationsPerRun, this.#admittedEvents());
    if (limit === 0) return 'no_capacity';
    // Events left to the relay are older than `#leftInOutboxAt`. Include such events even before they are overdue.
    const olderThanMs = Math.min(overdueAfterMs, clock.monotonic() - this.#leftInOutboxAt);
    // A run that continues from a cursor begins no pass. Like a full pass, it also reads the oldest events.
    const pass = this.#cursor === null ? this.#passes.begin() : null;
    const page = { cursor: this.#cursor, limit, olderThanMs, from: pass?.from ?? null };
    let result: FannedOut;
    try {
      result = await this.#run('relay', (capacity) => fanOutOverdueEvents(db, capacity, this.#options, page));
    } catch (error) {
      if (!isRefusedRow(error)) throw error;
      await fanOutOneByOne(this.#parking, await findOverdueEvents(db, page));
      return 'again';
    }
    this.#cursor = result.cursor;
    pass?.end(result.cursor === null ? timeOf(result.oldestLeft) : 'unknown');
    if (result.events > 0) return result.leases.length === 0 && result.dueWebhookIds.length > 0 ? 'soon' : 'again';
    if (result.cursor !== null) return 'soon';
    // A run that continued from a cursor has not visited the organizations before the cursor, so run again.
    return page.cursor === null ? 'all_visited' : 'again';
  }

  /** Wakes the relay at once. Its next run also finds young events that are committed by now. */
  leaveToRelay(): void {
    this.#leftInOutboxAt = this.#options.clock.monotonic();
    this.relay.wake();
  }

  retryParkedEvents(): Promise<void> {
    return retryParkedEvents(this.#parking);
  }

  get #parking(): ParkingOptions {
    return { ...this.#options, fanOut: (ids) => this.#fanOutNamed('relay', ids) };
  }

  #fanOutNamed(by: 'job' | 'relay', eventIds: readonly string[]): Promise<FannedOut> {
    return this.#run(by, (capacity) => fanOutEvents(this.#options.db, eventIds, capacity, this.#options));
  }

  async #run(by: 'job' | 'relay', statement: (capacity: Capacity) => Promise<FannedOut>): Promise<FannedOut> {
    const { clock, scheduler, leaseLoader, metrics, tracing } = this.#options;
    const [startedAtMs, leasedAt] = [Date.now(), clock.monotonic()];
    const result = await statement(scheduler.capacity('new'));
    if (result.events > 0) this.#deliveriesPerEvent = Math.max(1, result.admitted / result.events);
    metrics.eventsFannedOut.inc({ by }, result.events);
    metrics.deliveriesCreated.inc(result.deliveries);
    if (tracing !== undefined) recordFanOutSpans(tracing, by, result, startedAtMs);
    scheduler.noteDueRows(result.dueWebhookIds);
    await leaseLoader.accept(result.leases, leasedAt);
    scheduler.refill(result.dueWebhookIds);
    return result;
  }

  /**
   * Tells how many events to fan out now: the free capacity divided by the deliveries per event. Returns 0
   * without capacity, otherwise at least 1, because one event may have more deliveries than the capacity.
   * A delivery that is written but not leased costs a second write. So without capacity the event waits in the outbox,
   * where organizations alternate. The result ignores running fan-outs, so that a fan-out that hangs delays no other.
   */
  #admittedEvents(): number {
    const { scheduler } = this.#options;
    scheduler.startEligible();
    const free = scheduler.freeCapacity();
    return free < 1 ? 0 : Math.max(1, Math.floor(free / this.#deliveriesPerEvent));
  }
}

const timeOf = (eventId: string | null) => (eventId === null ? null : uuidTimeMs(eventId));
