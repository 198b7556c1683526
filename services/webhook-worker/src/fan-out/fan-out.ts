import type { Database } from '@enterprise-api/shared/ledger';
import { type Clock, uuidTimeMs } from '@enterprise-api/shared/runtime';
import type { LeaseLoader } from '../leases/lease-loader.ts';
import type { Capacity } from '../scheduler/capacity.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { AdmissionEstimate } from './admission-estimate.ts';
import { type FannedOut, type FanOutSettings, fanOutEvents, fanOutOverdueEvents } from './queries.ts';

export interface FanOutOptions {
  db: Database;
  clock: Clock;
  scheduler: Pick<Scheduler, 'startEligible' | 'capacity' | 'freeCapacity' | 'noteDueRows'>;
  leaseLoader: Pick<LeaseLoader, 'accept'>;
  settings: FanOutSettings;
  /** False while this process should lease no further deliveries. */
  mayLease: () => boolean;
  onFannedOut: (by: 'job' | 'relay', result: FannedOut) => void;
  /** Events were left in the outbox for want of capacity, or jobs are late: the relay should look now. */
  onLeftInOutbox: () => void;
}

/**
 * How a run of the relay ended:
 * `again` — it found events, or came to the end of a walk that had begun in the middle;
 * `all_visited` — it visited every organization and found nothing;
 * `some_visited` — it found nothing among the organizations of this run, and others follow;
 * `no_capacity` — this process has no capacity for an event.
 */
export type OverdueResult = 'again' | 'all_visited' | 'some_visited' | 'no_capacity';

/** A job that names only events that are gone, and as old as this, is behind the relay. Clocks may differ by less unnoticed. */
const lateJobMs = 5_000;
/** An event of this age is the relay's: its job is late or lost. */
const overdueAfterMs = 2_000;
const overdueBatchSize = 100;
/** After this time without capacity here, events are fanned out nevertheless: another process may have some. */
const patienceMs = 1_000;

/** Fans events out, by job or from the outbox, and passes on what was leased to this process. */
export class FanOut {
  readonly #options: FanOutOptions;
  readonly #estimate: AdmissionEstimate;
  #cursor: string | null = null;
  #leftInOutboxAt = Number.NEGATIVE_INFINITY;
  #withoutCapacitySince: number | null = null;

  constructor(options: FanOutOptions) {
    this.#options = options;
    this.#estimate = new AdmissionEstimate(() => options.scheduler.freeCapacity());
  }

  /**
   * Fans out the events of a job, as many as there is capacity for. The others stay in the outbox.
   *
   * @returns how many events were fanned out here (other processes have those that are missing), or that there is no capacity
   */
  async fanOutEvents(eventIds: readonly string[]): Promise<number | 'no_capacity'> {
    const { db, clock, scheduler, settings, mayLease } = this.#options;
    scheduler.startEligible();
    const admitted = eventIds.slice(0, mayLease() ? this.#estimate.events() : 0);
    if (admitted.length < eventIds.length) this.#leaveToRelay();
    if (admitted.length === 0) return 'no_capacity';
    const { events } = await this.#run('job', (capacity) => fanOutEvents(db, admitted, capacity, settings));
    // All are old, and fanned out already: jobs are behind the relay, and jobs of young events wait behind this one.
    const isLate = events === 0 && admitted.every((id) => uuidTimeMs(id) < clock.now() - lateJobMs);
    if (isLate) this.#leaveToRelay();
    return events;
  }

  /** Fans out the oldest events that no job has brought, or that were left in the outbox; organizations are served in turn. */
  async fanOutOverdue(): Promise<OverdueResult> {
    const { db, clock, scheduler, settings } = this.#options;
    scheduler.startEligible();
    const limit = this.#admittedOverdue();
    if (limit === 0) return 'no_capacity';
    // What was left in the outbox is older than that moment. Two seconds later it is overdue like any other event.
    const olderThanMs = Math.min(overdueAfterMs, clock.monotonic() - this.#leftInOutboxAt);
    const page = { cursor: this.#cursor, limit, olderThanMs };
    const result = await this.#run('relay', (capacity) => fanOutOverdueEvents(db, capacity, settings, page));
    this.#cursor = result.cursor;
    if (result.events > 0) return 'again';
    if (result.cursor !== null) return 'some_visited';
    // A walk that began in the middle has not visited the organizations before it.
    return page.cursor === null ? 'all_visited' : 'again';
  }

  async #run(by: 'job' | 'relay', statement: (capacity: Capacity) => Promise<FannedOut>): Promise<FannedOut> {
    const { clock, scheduler, leaseLoader, onFannedOut } = this.#options;
    const leasedAt = clock.monotonic();
    const result = await statement(scheduler.capacity('new'));
    this.#estimate.learn(result.events, result.admitted);
    onFannedOut(by, result);
    scheduler.noteDueRows(result.leftDue, true);
    await leaseLoader.accept(result.leases, leasedAt);
    return result;
  }

  #leaveToRelay(): void {
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
