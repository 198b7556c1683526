import type { Database } from '@enterprise-api/shared/ledger';
import { type Clock, createLoop, type Loop, uuidTimeMs } from '@enterprise-api/shared/runtime';
import type { LeaseLoader } from '../leases/lease-loader.ts';
import { createPasses, type Passes } from '../passes.ts';
import type { Capacity, Scheduler } from '../scheduler/scheduler.ts';
import type { FannedOut, FanOutSettings } from './fanned-out.ts';
import { type ApartOptions, fanOutApart, isRefusedRow, retryParkedEvents } from './parked-events.ts';
import type { ParkedEvent } from './parked-queries.ts';
import { fanOutEvents, fanOutOverdueEvents, findOverdueEvents } from './queries.ts';

export interface FanOutOptions {
  db: Database;
  clock: Clock;
  scheduler: Pick<Scheduler, 'startEligible' | 'capacity' | 'freeCapacity' | 'noteDueRows' | 'refill'>;
  leaseLoader: Pick<LeaseLoader, 'accept'>;
  settings: FanOutSettings;
  /** False while this process should lease no further deliveries. */
  mayLease: () => boolean;
  /** @param leasedAt monotonic, from before the statement was sent */
  onFannedOut: (by: 'job' | 'relay', result: FannedOut, leasedAt: number) => void;
  /** PostgreSQL refused the deliveries of an event: it is out of the outbox, and tried again later. */
  onParked: (event: ParkedEvent) => void;
  /** Events were left in the outbox, for want of capacity or because no job names them: the relay should look now. */
  onLeftInOutbox: () => void;
}

/**
 * How a run of the relay ended:
 * `again` — it found events, or came to the end of a pass that had begun in the middle;
 * `left_due` — it found events, and this process could lease none of their deliveries;
 * `all_visited` — it visited every organization and found nothing;
 * `some_visited` — it found nothing among the organizations of this run, and others follow;
 * `no_capacity` — this process has no capacity for an event.
 */
export type OverdueResult = 'again' | 'left_due' | 'all_visited' | 'some_visited' | 'no_capacity';

/**
 * The relay fans out events of this age: their jobs are late or lost. A producer gives up on a job after 200 ms; a job of a
 * younger event may still be on its way, and would find nothing. With {@link relayEveryMs}, which varies by 10 %, an event
 * without a job is fanned out 0.6 to 1.7 s after its commit: 2 s are promised.
 */
const overdueAfterMs = 600;
const overdueBatchSize = 100;
/** After this time without capacity here, the relay fans events out nevertheless: another process may have capacity. */
const patienceMs = 1_000;

/** Fans events out, by job or from the outbox, and passes on what was leased to this process. */
export class FanOut {
  readonly #options: FanOutOptions;
  readonly #estimate: AdmissionEstimate;
  readonly #passes: Passes;
  #cursor: string | null = null;
  #leftInOutboxAt = Number.NEGATIVE_INFINITY;
  #withoutCapacitySince: number | null = null;

  constructor(options: FanOutOptions) {
    this.#options = options;
    this.#estimate = new AdmissionEstimate(() => options.scheduler.freeCapacity());
    this.#passes = createPasses(options.clock);
  }

  /**
   * Fans out the events of a job, as many as there is capacity for. The others stay in the outbox.
   *
   * @returns how many events were fanned out here (other processes have those that are missing), or that there is no capacity
   */
  async fanOutEvents(eventIds: readonly string[]): Promise<number | 'no_capacity'> {
    const { db, scheduler, settings, mayLease } = this.#options;
    scheduler.startEligible();
    const admitted = eventIds.slice(0, mayLease() ? this.#estimate.events() : 0);
    if (admitted.length < eventIds.length) this.leaveToRelay();
    if (admitted.length === 0) return 'no_capacity';
    const { events } = await this.#run('job', (capacity) => fanOutEvents(db, admitted, capacity, settings));
    return events;
  }

  /** Fans out the oldest events that no job has brought, or that were left in the outbox; organizations are served in turn. */
  async fanOutOverdue(): Promise<OverdueResult> {
    const { db, clock, scheduler, settings } = this.#options;
    scheduler.startEligible();
    const limit = this.#admittedOverdue();
    if (limit === 0) return 'no_capacity';
    // Events that were left in the outbox are older than that moment. Soon they are overdue like any others.
    const olderThanMs = Math.min(overdueAfterMs, clock.monotonic() - this.#leftInOutboxAt);
    // A run that goes on from a cursor belongs to a full pass.
    const pass = this.#cursor === null ? this.#passes.begin() : null;
    const page = { cursor: this.#cursor, limit, olderThanMs, from: pass?.from ?? null };
    let result: FannedOut;
    try {
      result = await this.#run('relay', (capacity) => fanOutOverdueEvents(db, capacity, settings, page));
    } catch (error) {
      if (!isRefusedRow(error)) throw error;
      await fanOutApart(this.#apart(), await findOverdueEvents(db, page));
      return 'again';
    }
    this.#cursor = result.cursor;
    pass?.end(result.cursor === null ? timeOf(result.oldestLeft) : 'unknown');
    if (result.events > 0) return result.leases.length === 0 && result.leftDue.length > 0 ? 'left_due' : 'again';
    if (result.cursor !== null) return 'some_visited';
    // A run that began in the middle has not visited the organizations before it.
    return page.cursor === null ? 'all_visited' : 'again';
  }

  /** Fans out those parked events whose time has come. */
  retryParkedEvents(): Promise<void> {
    return retryParkedEvents(this.#apart());
  }

  #apart(): ApartOptions {
    const { db, settings, onParked } = this.#options;
    const fanOut = (ids: readonly string[]) =>
      this.#run('relay', (capacity) => fanOutEvents(db, ids, capacity, settings));
    return { db, fanOut, onParked };
  }

  async #run(by: 'job' | 'relay', statement: (capacity: Capacity) => Promise<FannedOut>): Promise<FannedOut> {
    const { clock, scheduler, leaseLoader, onFannedOut } = this.#options;
    const leasedAt = clock.monotonic();
    const result = await statement(scheduler.capacity('new'));
    this.#estimate.learn(result.events, result.admitted);
    onFannedOut(by, result, leasedAt);
    scheduler.noteDueRows(result.leftDue);
    await leaseLoader.accept(result.leases, leasedAt);
    scheduler.refill(result.leftDue);
    return result;
  }

  /** Has the relay look at once, also for young events. Those that are committed by now will be found. */
  leaveToRelay(): void {
    this.#leftInOutboxAt = this.#options.clock.monotonic();
    this.#options.onLeftInOutbox();
  }

  /** How many overdue events to fan out now; a full batch after {@link patienceMs} without capacity. */
  #admittedOverdue(): number {
    const now = this.#options.clock.monotonic();
    const events = Math.min(overdueBatchSize, this.#estimate.events());
    if (events > 0) {
      this.#withoutCapacitySince = null;
      return events;
    }
    this.#withoutCapacitySince ??= now;
    if (now - this.#withoutCapacitySince < patienceMs) return 0;
    this.#withoutCapacitySince = null;
    return overdueBatchSize;
  }
}

const timeOf = (eventId: string | null) => (eventId === null ? null : uuidTimeMs(eventId));

/** Part of the promise of {@link overdueAfterMs}; an idle worker's queries are mostly these. */
const relayEveryMs = 1_000;

/** Until the next run. */
const relayDelaysMs: Record<OverdueResult, number> = {
  again: 0,
  // Their endpoint queues are full. To write rows faster than they can be sent would only take CPU time from what can be.
  left_due: 50,
  all_visited: relayEveryMs,
  // The next hundred organizations follow soon: those of this run may have only events that are still young.
  some_visited: 100,
  // Capacity usually becomes free when an attempt ends, which wakes the relay. Releasing leases does not wake it.
  no_capacity: 100,
};

export interface Relay extends Loop {
  /** Capacity has become free: runs now if the relay waits for capacity. */
  capacityFreed(): void;
}

/**
 * Fans out what no job has brought: the queue may lose everything and the outbox still empties. Runs again at once while
 * it finds events, and as soon as there is capacity for events that had to wait.
 */
export function createRelay(options: {
  fanOut: Pick<FanOut, 'fanOutOverdue'>;
  /** False while this process should lease no further deliveries. */
  mayLease: () => boolean;
  onError: (error: unknown) => void;
}): Relay {
  let waitsForCapacity = false;
  const loop = createLoop({
    onError: options.onError,
    delayAfterErrorMs: relayEveryMs,
    run: async () => {
      if (!options.mayLease()) return relayEveryMs;
      waitsForCapacity = false;
      const result = await options.fanOut.fanOutOverdue();
      waitsForCapacity = result === 'no_capacity';
      return relayDelaysMs[result];
    },
  });
  return {
    ...loop,
    capacityFreed: () => {
      if (waitsForCapacity) loop.wake();
    },
  };
}

/** How much one fan-out changes the estimate: at most this much, by a fan-out of so many events. */
const maxWeight = 0.3;
const eventsOfFullWeight = 30;
const maxEventsPerUnit = 10;

/**
 * Estimates how many events this process has capacity for: its free capacity, divided by the deliveries that events have
 * had lately. A delivery that is written without capacity here is due for any process, and is written a second time to be
 * leased: a third of the database's work when every event goes to a hundred webhooks. So its event waits in the outbox
 * until there is capacity, where organizations are served in turn.
 *
 * Fan-outs under way are not subtracted: some exceed the capacity a little, and none waits for another that hangs.
 */
export class AdmissionEstimate {
  readonly #freeCapacity: () => number;
  #deliveriesPerEvent = 1;

  constructor(freeCapacity: () => number) {
    this.#freeCapacity = freeCapacity;
  }

  /** Events to fan out now: none without capacity, else at least one, for an event may have more deliveries than that. */
  events(): number {
    const free = this.#freeCapacity();
    return free < 1 ? 0 : Math.max(1, Math.floor(free / this.#deliveriesPerEvent));
  }

  /** @param admitted deliveries of these events that use capacity: leased, or due now because there was none */
  learn(events: number, admitted: number): void {
    if (events === 0) return;
    const weight = Math.min(maxWeight, events / eventsOfFullWeight);
    const estimate = this.#deliveriesPerEvent + weight * (admitted / events - this.#deliveriesPerEvent);
    // Events without a subscriber use nothing; the bound keeps one batch from emptying the whole outbox.
    this.#deliveriesPerEvent = Math.max(1 / maxEventsPerUnit, estimate);
  }
}
