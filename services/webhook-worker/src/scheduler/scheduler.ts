import type { Clock } from '@enterprise-api/shared/runtime';
import type { Lease } from '../leases/lease.ts';
import type { AttemptHooks, SchedulerPorts } from '../pipeline/types.ts';
import { Backpressure } from './backpressure.ts';
import { Admission, type AdmissionSettings, type Capacity } from './capacity.ts';
import { type EndpointQueue, EndpointQueues, isDegraded } from './endpoint-queues.ts';
import { type AttemptInFlight, InFlight, slowAfterMs } from './in-flight.ts';

export interface SchedulerSettings extends AdmissionSettings {
  clock: Clock;
  /** A lease older than this is released instead of started. */
  startWithinMs: number;
}

const tickMs = 50;

/** Decides which leased delivery starts when, so that no endpoint can use up the process's capacity. */
export class Scheduler {
  readonly #settings: SchedulerSettings;
  readonly #queues = new EndpointQueues();
  readonly #admission: Admission;
  readonly #backpressure: Backpressure;
  readonly #inFlight = new InFlight((queue) => this.#becameSlow(queue));
  #ports: SchedulerPorts | undefined;
  #ticker: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(settings: SchedulerSettings) {
    this.#settings = settings;
    this.#admission = new Admission(this.#queues, this.#inFlight, settings);
    this.#backpressure = new Backpressure(this.#queues, settings, (leases) => this.#stages.release(leases));
  }

  /** Connects the scheduler with the stages before and behind it. Called once, before the first lease. */
  connect(ports: SchedulerPorts): void {
    this.#ports = ports;
  }

  /** Puts leases into their endpoint queues and starts what may start. */
  accept(leases: readonly Lease[]): void {
    if (this.#isStopped) return this.#stages.release(leases);
    for (const lease of leases) {
      const queue = this.#queues.findOrCreate(lease.webhookId);
      if (queue.host.key !== lease.hostKey) this.#backpressure.moveToHost(queue, lease.hostKey);
      this.#queues.add(queue, lease);
    }
    this.startEligible();
    this.#backpressure.releaseExcess(leases);
  }

  /** Notes that rows of these webhooks are due in the ledger (or, with `due` false, no more than were leased). */
  noteDueRows(webhookIds: Iterable<string>, due: boolean): void {
    for (const id of webhookIds) {
      const queue = due ? this.#queues.findOrCreate(id) : this.#queues.find(id);
      if (queue !== undefined) queue.hasDueRows = due;
    }
  }

  /** The circuit of a webhook has opened: releases what waits. The ledger alone knows until when it is open. */
  releaseWaiting(webhookId: string): void {
    const queue = this.#queues.find(webhookId);
    const waiting = queue === undefined ? [] : this.#queues.remove(queue);
    if (waiting.length > 0) this.#stages.release(waiting);
  }

  /** Starts what may start now. Called before capacity is read: waiting leases come before new ones when permits are free. */
  startEligible(): void {
    const now = this.#now;
    this.#inFlight.age(now);
    for (const queue of this.#queues.ready()) {
      if (this.#admission.freePermits === 0) break;
      this.#backpressure.releaseStale(queue, now);
      const [lease] = queue.waiting;
      if (lease === undefined || !this.#admission.isEligible(queue, now)) continue;
      this.#queues.serve(queue);
      this.#start(queue, lease, now);
    }
    this.#tickWhileWaiting();
  }

  /** Forgets endpoint queues that do nothing and remember no trouble. */
  forgetIdle(): void {
    for (const queue of this.#queues.all()) this.#queues.forgetIfIdle(queue, this.#now);
  }

  /** The capacity per webhook, as of the last start. None in a process that stops. */
  capacity(kind: 'new' | 'due'): Capacity {
    const capacity = this.#admission.capacity(kind, this.#now);
    return this.#isStopped ? { ...capacity, total: 0 } : capacity;
  }

  /**
   * How many new deliveries this process could use, as of the last start. Unlimited in a process that stops: it leases
   * nothing of what it fans out, and other processes can.
   */
  freeCapacity(): number {
    return this.#isStopped ? Number.POSITIVE_INFINITY : this.#admission.freeCapacity();
  }

  /** Starts nothing more and releases what waits. Attempts under way go on. */
  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
    const waiting = [...this.#queues.ready()].flatMap((queue) => this.#queues.remove(queue));
    if (waiting.length > 0) this.#stages.release(waiting);
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Resolves when no attempt is under way. */
  allEnded(): Promise<void> {
    return this.#inFlight.allEnded();
  }

  /** Figures for the metrics. */
  get figures(): { queues: number; running: number; slow: number; waiting: number } {
    const { unanswered, slow } = this.#inFlight;
    return { queues: this.#queues.size, running: unanswered, slow, waiting: this.#queues.waiting };
  }

  get #now(): number {
    return this.#settings.clock.monotonic();
  }

  get #stages(): SchedulerPorts {
    if (this.#ports === undefined) throw new Error('the scheduler is not connected');
    return this.#ports;
  }

  #start(queue: EndpointQueue, lease: Lease, now: number): void {
    const isOfDegraded = isDegraded(queue);
    const attempt = this.#inFlight.start(queue, isOfDegraded, now);
    if (isOfDegraded) this.#queues.putLast(queue);
    const hooks: AttemptHooks = {
      // The customer waits for the result of a test.
      canWait: isOfDegraded && lease.eventType !== 'webhook.test',
      connects: () => {
        attempt.connectingAt = this.#now;
      },
      answered: () => this.#answered(attempt),
    };
    void this.#stages.attempt(lease, hooks).then(({ timedOut }) => this.#ended(attempt, timedOut));
  }

  #answered(attempt: AttemptInFlight): void {
    if (!this.#inFlight.answer(attempt)) return;
    const { queue } = attempt;
    const now = this.#now;
    if (now - attempt.connectingAt < slowAfterMs) {
      queue.answeredQuicklyAt = now;
      queue.degradedSince = Number.NEGATIVE_INFINITY;
      this.#queues.noteWaiting(queue);
    }
    this.#permitFreed(queue);
  }

  #ended(attempt: AttemptInFlight, timedOut: boolean): void {
    const { queue, host } = attempt;
    if (timedOut) queue.lastTimeoutAt = this.#now;
    const wasUnanswered = this.#inFlight.answer(attempt);
    this.#inFlight.end(attempt);
    this.#queues.forgetHostIfUnused(host);
    if (wasUnanswered) this.#permitFreed(queue);
    else if (host.waitingQueues > 0 && !this.#isStopped) this.startEligible();
    this.#queues.forgetIfIdle(queue, this.#now);
  }

  #permitFreed(queue: EndpointQueue): void {
    if (this.#isStopped) return;
    if (this.#queues.waiting > 0) this.startEligible();
    if (this.#admission.isShort) this.#stages.capacityFreed();
    if (queue.hasDueRows && this.#admission.isHalfEmpty(queue)) this.#stages.refillNeeded();
  }

  #becameSlow(queue: EndpointQueue): void {
    queue.degradedSince = this.#now;
    this.#queues.noteWaiting(queue);
    if (queue.slow === 1) this.#backpressure.releaseAll(queue);
  }

  /** Ageing frees permits, and leases become stale, without any other event: looks again while anything waits. */
  #tickWhileWaiting(): void {
    if (this.#queues.waiting > 0 && !this.#isStopped) {
      this.#ticker ??= setInterval(() => this.#tick(), tickMs);
    } else {
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    }
  }

  #tick(): void {
    const now = this.#now;
    for (const queue of this.#queues.ready()) this.#backpressure.releaseStale(queue, now);
    this.startEligible();
  }
}
