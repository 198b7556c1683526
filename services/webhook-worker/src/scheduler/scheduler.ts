import type { Clock } from '@enterprise-api/shared/runtime';
import type { Lease } from '../leases/lease.ts';
import type { Capacity } from './capacity.ts';
import {
  capacityForNew,
  concurrencyOf,
  createEndpointQueue,
  type EndpointQueue,
  freeCapacity,
  isDegraded,
  type QueueLimits,
} from './endpoint-queue.ts';
import { HostLimit } from './host-limit.ts';
import { InFlight } from './in-flight.ts';
import { Permit, type Start } from './permit.ts';
import { ReadyQueue } from './ready-queue.ts';

/** What happened to a lease that a lane let go. */
interface SchedulerEvents {
  /** Starts the attempt; the promise settles when all is done. */
  run(lease: Lease, start: Start): Promise<{ timedOut: boolean }>;
  /** Leases that were not started and are to be given back. */
  release(leases: Lease[]): void;
  /** A lane with due rows in the ledger has room again. */
  needsRefill(): void;
  /** An attempt has ended, and few wait: there is room for new deliveries. */
  hasCapacity(): void;
}

export interface SchedulerOptions {
  clock: Clock;
  /** Attempts younger than 1 s in the whole process. */
  permits: number;
  limits: QueueLimits;
  /** Attempts under way to one host, over all webhooks of one organization. */
  perHost: number;
  /** A lease older than this is given back instead of started. */
  startWithinMs: number;
  events: SchedulerEvents;
}

/** With so many old attempts, only webhooks with a clean record start. */
const maxSlowAttempts = 1_000;
const cleanAfterMs = 5 * 60_000;
const tickMs = 50;
/** What a process is given beyond two lines per slot is handed back from here on, in lines per permit. */
const mostWaiting = 4;

/** Decides which leased delivery starts when, so that no endpoint can take the process away from the others. */
export class Scheduler {
  private readonly queues = new Map<string, EndpointQueue>();
  private readonly ready = new ReadyQueue();
  private readonly inFlight: InFlight;
  private readonly hosts: HostLimit;
  private readonly options: SchedulerOptions;
  /** The limits of a process whose lines are full: what can start at once. */
  private readonly withoutWaiting: QueueLimits;
  private ticker: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(options: SchedulerOptions) {
    this.options = options;
    this.withoutWaiting = { ...options.limits, waiting: 0 };
    this.hosts = new HostLimit(options.perHost);
    this.inFlight = new InFlight((running) => {
      this.hosts.noteSlow(running.hostKey);
      const queue = this.queues.get(running.webhookId);
      if (queue) this.noteSlow(queue);
    });
  }

  /** Puts leases into their lanes and starts what may start. */
  accept(leases: readonly Lease[]): void {
    if (this.stopped) return this.options.events.release([...leases]);
    for (const lease of leases) {
      const queue = this.queueOf(lease.webhookId);
      queue.hostKey = lease.hostKey;
      this.ready.add(queue, lease);
    }
    this.startEligible();
    this.releaseExcess(leases);
  }

  /** Rows of these webhooks are due in the ledger (or, with `due` false, no more than were leased). */
  noteDueRows(webhookIds: Iterable<string>, due: boolean): void {
    for (const id of webhookIds) {
      const queue = due ? this.queueOf(id) : this.queues.get(id);
      if (queue) queue.hasDueRows = due;
      if (queue && !due) this.forgetIfIdle(queue);
    }
  }

  /** The breaker of a webhook is open: what waits here goes back to the ledger. */
  openCircuit(webhookId: string, forMs: number): void {
    const queue = this.queueOf(webhookId);
    queue.heldUntil = this.options.clock.monotonic() + forMs;
    if (queue.waiting.length > 0) this.options.events.release(this.ready.empty(queue));
  }

  /**
   * Room per lane, for take (`new` deliveries) or for dispatch (`due` ones). When fewer places are free in the lines than
   * slots, what waits there does so for its own endpoints: others are then given what can start at once.
   */
  capacity(kind: 'new' | 'due'): Capacity {
    const { limits, clock, permits } = this.options;
    const now = clock.monotonic();
    // Slots that have come free by ageing are first of all for what waits.
    this.startEligible();
    const total = this.totalCapacity();
    const freePermits = this.inFlight.freePermits(permits);
    const isAtOnce = total < freePermits;
    const offered = isAtOnce ? this.withoutWaiting : limits;
    const webhookIds: string[] = [];
    const free: number[] = [];
    const busy: number[] = [];
    for (const queue of this.queues.values()) {
      this.forgetIfIdle(queue);
      webhookIds.push(queue.webhookId);
      const room = kind === 'new' ? capacityForNew(queue, offered, now) : freeCapacity(queue, offered);
      const isOpen = this.mayStart(queue, now) && !this.hosts.isSaturated(queue.hostKey);
      const places = isAtOnce ? this.hosts.freePermits(queue.hostKey) : Number.POSITIVE_INFINITY;
      free.push(isOpen ? Math.min(room, places) : 0);
      busy.push(queue.running + queue.waiting.length);
    }
    const ofNewQueue = offered.concurrency + offered.waiting;
    return { webhookIds, free, busy, ofNewQueue, total: this.stopped ? 0 : Math.max(total, freePermits) };
  }

  /**
   * How many new deliveries this process could use now; none until fewer wait than may run, so that they come in batches.
   * Where slots are free, what waits does so for its own endpoints: it is no reason to keep those of others waiting.
   * A process that stops leaves nothing for later: what it takes is due for anybody.
   */
  freeCapacity(): number {
    const { permits } = this.options;
    if (this.stopped) return Number.POSITIVE_INFINITY;
    this.startEligible();
    if (this.ready.waiting <= permits) return this.totalCapacity();
    return this.inFlight.freePermits(permits) > 0 ? Number.POSITIVE_INFINITY : 0;
  }

  /** Starts nothing more; what waits is handed back. Attempts under way go on. */
  stop(): void {
    this.stopped = true;
    clearInterval(this.ticker);
    this.ticker = undefined;
    const left = [...this.ready.inTurn()].flatMap((queue) => this.ready.empty(queue));
    if (left.length > 0) this.options.events.release(left);
  }

  get isStopped(): boolean {
    return this.stopped;
  }

  /** Figures for the metrics. */
  get figures(): { queues: number; running: number; slow: number; waiting: number } {
    return {
      queues: this.queues.size,
      running: this.inFlight.size,
      slow: this.inFlight.slowCount,
      waiting: this.ready.waiting,
    };
  }

  private totalCapacity(): number {
    return Math.max(0, 2 * this.options.permits - this.ready.waiting);
  }

  private startEligible(): void {
    const now = this.options.clock.monotonic();
    this.inFlight.age(now);
    for (const queue of this.ready.inTurn()) {
      if (this.inFlight.freePermits(this.options.permits) === 0) break;
      this.releaseStale(queue, now);
      const [lease] = queue.waiting;
      if (!lease || !this.isEligible(queue, lease, now)) continue;
      this.ready.serve(queue);
      this.start(queue, lease, now);
    }
    this.tickWhileWaiting();
  }

  private start(queue: EndpointQueue, lease: Lease, now: number): void {
    const { inFlight, hosts } = this;
    const { clock, events } = this.options;
    const permit = new Permit(queue, lease.hostKey, now, { clock, inFlight, hosts });
    const free = (byAnswer: boolean) => {
      if (permit.isFree) return;
      permit.free(byAnswer);
      this.afterFree(queue);
    };
    // A test is what somebody waits for.
    const canWait = isDegraded(queue) && lease.eventType !== 'webhook.test';
    const start = { canWait, connects: () => permit.connects(), answered: () => free(true) };
    void events.run(lease, start).then(({ timedOut }) => {
      const wasFull = permit.leave(timedOut);
      if (!permit.isFree) free(false);
      else if (wasFull && !this.stopped && !this.ready.isEmpty) this.startEligible();
    });
  }

  private afterFree(queue: EndpointQueue): void {
    if (!this.stopped && !this.ready.isEmpty) this.startEligible();
    const hasCapacity = this.ready.waiting < this.options.permits;
    if (hasCapacity && !this.stopped) this.options.events.hasCapacity();
    if (queue.hasDueRows && this.isHalfEmpty(queue, hasCapacity)) this.options.events.needsRefill();
    this.forgetIfIdle(queue);
  }

  /**
   * Whether a lane could use many more. With many backlogs each line is short: asking for a few rows at every answer would
   * keep the ledger walking. A process whose lines are full asks for what can start at once.
   */
  private isHalfEmpty(queue: EndpointQueue, hasCapacity: boolean): boolean {
    const { limits, permits } = this.options;
    if (hasCapacity) return freeCapacity(queue, limits) * 2 >= limits.waiting;
    return freeCapacity(queue, this.withoutWaiting) * 2 >= limits.concurrency && this.inFlight.freePermits(permits) > 0;
  }

  private isEligible(queue: EndpointQueue, lease: Lease, now: number): boolean {
    const hasPermit = queue.running < concurrencyOf(queue, this.options.limits) && this.mayStart(queue, now);
    return hasPermit && !this.hosts.isFull(lease.hostKey);
  }

  private mayStart(queue: EndpointQueue, now: number): boolean {
    if (this.inFlight.slowCount < maxSlowAttempts) return true;
    return queue.slow === 0 && now - queue.lastTimeoutAt > cleanAfterMs;
  }

  /** A lane that becomes slow has no line: what waited in it would take up the process's room for others. */
  private noteSlow(queue: EndpointQueue): void {
    queue.slow += 1;
    queue.degradedSince = this.options.clock.monotonic();
    if (queue.slow === 1) this.releaseDue(queue, this.ready.empty(queue));
  }

  /** Several takes at a time are given the same room. What then neither starts nor has any place is for others. */
  private releaseExcess(leases: readonly Lease[]): void {
    const most = mostWaiting * this.options.permits;
    const queues = new Set(this.ready.waiting > most ? leases.map(({ webhookId }) => this.queueOf(webhookId)) : []);
    for (const queue of queues) {
      const kept = queue.waiting.length - (this.ready.waiting - most);
      this.releaseDue(
        queue,
        this.ready.remove(queue, (_lease, place) => place >= kept),
      );
    }
  }

  private releaseDue(queue: EndpointQueue, leases: Lease[]): void {
    if (leases.length === 0) return;
    queue.hasDueRows = true;
    this.options.events.release(leases);
  }

  private releaseStale(queue: EndpointQueue, now: number): void {
    const { startWithinMs } = this.options;
    // Leases come in the order of time, so the first tells whether there is anything to do.
    const first = queue.waiting[0];
    if (first === undefined) return;
    if (this.hosts.isSaturated(first.hostKey)) this.releaseDue(queue, this.ready.empty(queue));
    else if (now - first.leasedAt > startWithinMs) {
      this.releaseDue(
        queue,
        this.ready.remove(queue, (lease) => now - lease.leasedAt > startWithinMs),
      );
    }
  }

  /** Ageing frees slots and leases grow stale without any other event: look again while anything waits. */
  private tickWhileWaiting(): void {
    if (!this.ready.isEmpty && !this.stopped) {
      this.ticker ??= setInterval(() => this.tick(), tickMs);
    } else {
      clearInterval(this.ticker);
      this.ticker = undefined;
    }
  }

  private tick(): void {
    const now = this.options.clock.monotonic();
    for (const queue of this.ready.inTurn()) this.releaseStale(queue, now);
    this.startEligible();
  }

  private queueOf(webhookId: string): EndpointQueue {
    let queue = this.queues.get(webhookId);
    if (!queue) {
      queue = createEndpointQueue(webhookId);
      this.queues.set(webhookId, queue);
    }
    return queue;
  }

  /** A lane that remembers nothing of interest is forgotten. */
  private forgetIfIdle(queue: EndpointQueue): void {
    const now = this.options.clock.monotonic();
    const troubledAt = Math.max(queue.lastTimeoutAt, queue.degradedSince);
    const remembers = queue.hasDueRows || queue.heldUntil > now || now - troubledAt < cleanAfterMs;
    if (queue.running === 0 && queue.waiting.length === 0 && !remembers) this.queues.delete(queue.webhookId);
  }
}
