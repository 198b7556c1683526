import type { Clock } from '@enterprise-api/shared/runtime';
import type { Lease } from '../leases/lease.ts';
import type { AttemptHooks, Capacity, SchedulerPorts } from '../pipeline/types.ts';
import type { AttemptInFlight, EndpointQueue } from './endpoint-queue.ts';
import { Load, type LoadSettings, slowAfterMs } from './load.ts';

export interface SchedulerSettings extends LoadSettings {
  clock: Clock;
  /** A lease older than this is released instead of started. */
  startWithinMs: number;
}

const tickMs = 50;
/**
 * Concurrent fan-outs are offered the same capacity and may lease more than may wait. Excess leases are released once
 * more than this many wait per permit of the process.
 */
const mostWaitingPerPermit = 4;

/** Decides which leased delivery starts when, so that no endpoint can use up the process's capacity. */
export class Scheduler {
  readonly #settings: SchedulerSettings;
  readonly #load: Load;
  #ports: SchedulerPorts | undefined;
  #ticker: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(settings: SchedulerSettings) {
    this.#settings = settings;
    this.#load = new Load(settings, (queue) => this.#becameSlow(queue));
  }

  /** Connects the scheduler with the stages before and behind it. Called once, before the first lease. */
  connect(ports: SchedulerPorts): void {
    this.#ports = ports;
  }

  /** Puts leases into their endpoint queues and starts what may start. */
  accept(leases: readonly Lease[]): void {
    if (this.#isStopped) return this.#stages.release(leases);
    for (const lease of leases) {
      this.#load.add(this.#queueAt(lease.webhookId, lease.hostKey), lease);
    }
    this.startEligible();
    if (this.#excess > 0) this.#releaseExcess(leases);
  }

  /** Notes that rows of these webhooks are due in the ledger, beyond what was leased here. */
  noteDueRows(webhookIds: Iterable<string>): void {
    for (const id of webhookIds) this.#load.findOrCreate(id).noteDueRows(this.#now);
  }

  /** Notes that a statement, sent at `askedAt` (monotonic), found no more due rows of these webhooks than it leased. */
  noteNoneDue(webhookIds: Iterable<string>, askedAt: number): void {
    for (const id of webhookIds) this.#load.find(id)?.noteNoneDue(askedAt);
  }

  /**
   * Has dispatch look for due rows of these webhooks if a queue could use many. When an attempt ends that happens by
   * itself, but none may be under way: their rows would wait for dispatch's idle rhythm.
   */
  refill(webhookIds: Iterable<string>): void {
    if (this.#isStopped) return;
    for (const id of webhookIds) {
      const queue = this.#load.find(id);
      if (queue?.hasDueRows && this.#load.isHalfEmpty(queue)) return this.#stages.refillNeeded();
    }
  }

  /** A lease of this webhook was not accepted for want of memory: its organization gets no others until there is some. */
  noteHeldBack(webhookId: string, hostKey: string): void {
    this.#queueAt(webhookId, hostKey).noteDueRows(this.#now);
  }

  /** The circuit of a webhook has opened: releases what waits. The ledger alone knows until when it is open. */
  releaseWaiting(webhookId: string): void {
    const queue = this.#load.find(webhookId);
    const waiting = queue === undefined ? [] : this.#load.remove(queue);
    if (waiting.length > 0) this.#stages.release(waiting);
  }

  /** Starts what may start now. Called before capacity is read: waiting leases come before new ones when permits are free. */
  startEligible(): void {
    const now = this.#now;
    this.#load.age(now);
    for (const queue of this.#load.ready()) {
      if (this.#load.freePermits === 0) break;
      this.#releaseStale(queue, now);
      const [lease] = queue.waiting;
      if (lease !== undefined && this.#load.isEligible(queue, now)) this.#start(queue, lease, now);
    }
    this.#tickWhileWaiting();
  }

  /** Forgets endpoint queues that do nothing and remember no trouble. */
  forgetIdle(): void {
    this.#load.forgetIdle(this.#now);
  }

  /** The capacity per webhook, as of the last start. None in a process that stops. */
  capacity(kind: 'new' | 'due'): Capacity {
    const capacity = this.#load.capacity(kind, this.#now);
    return this.#isStopped ? { ...capacity, total: 0 } : capacity;
  }

  /**
   * How many new deliveries this process could use, as of the last start. Unlimited in a process that stops: it leases
   * nothing of what it fans out, and other processes can.
   */
  freeCapacity(): number {
    return this.#isStopped ? Number.POSITIVE_INFINITY : this.#load.freeCapacity();
  }

  /** Starts nothing more and releases what waits. Attempts under way go on. */
  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
    const waiting = [...this.#load.ready()].flatMap((queue) => this.#load.remove(queue));
    if (waiting.length > 0) this.#stages.release(waiting);
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Resolves when no attempt is under way. */
  allEnded(): Promise<void> {
    return this.#load.allEnded();
  }

  /** Figures for the metrics. */
  get figures(): { queues: number; running: number; slow: number; waiting: number } {
    return this.#load.figures;
  }

  get #now(): number {
    return this.#settings.clock.monotonic();
  }

  get #stages(): SchedulerPorts {
    if (this.#ports === undefined) throw new Error('the scheduler is not connected');
    return this.#ports;
  }

  #queueAt(webhookId: string, hostKey: string): EndpointQueue {
    const queue = this.#load.findOrCreate(webhookId, hostKey);
    if (queue.host.key !== hostKey) this.#releaseDue(queue, this.#load.moveToHost(queue, hostKey));
    return queue;
  }

  #start(queue: EndpointQueue, lease: Lease, now: number): void {
    const attempt = this.#load.start(queue, now);
    const hooks: AttemptHooks = {
      // The customer waits for the result of a test.
      canWait: attempt.ofDegraded && lease.eventType !== 'webhook.test',
      connects: () => {
        attempt.connectingAt = this.#now;
      },
      answered: () => this.#answered(attempt),
    };
    void this.#stages.attempt(lease, hooks).then(({ timedOut }) => this.#ended(attempt, timedOut));
  }

  #answered(attempt: AttemptInFlight): void {
    if (!this.#load.answer(attempt)) return;
    const now = this.#now;
    if (now - attempt.connectingAt < slowAfterMs) attempt.queue.noteQuickAnswer(now);
    this.#permitFreed(attempt.queue);
  }

  #ended(attempt: AttemptInFlight, timedOut: boolean): void {
    const { queue, host } = attempt;
    if (timedOut) queue.lastTimeoutAt = this.#now;
    const wasUnanswered = this.#load.answer(attempt);
    this.#load.end(attempt);
    if (wasUnanswered) this.#permitFreed(queue);
    else if (host.waitingQueues > 0 && !this.#isStopped) this.startEligible();
    this.#load.forgetIfIdle(queue, this.#now);
  }

  #permitFreed(queue: EndpointQueue): void {
    if (this.#isStopped) return;
    if (this.#load.waiting > 0) this.startEligible();
    if (this.#load.isShort) this.#stages.capacityFreed();
    if (queue.hasDueRows && this.#load.isHalfEmpty(queue)) this.#stages.refillNeeded();
  }

  #becameSlow(queue: EndpointQueue): void {
    queue.noteSlow(this.#now);
    if (queue.slow === 1) this.#releaseDue(queue, this.#load.remove(queue));
  }

  /** Releases leases that are too old to start, and everything that waits for slow attempts of its host to end. */
  #releaseStale(queue: EndpointQueue, now: number): void {
    const [first] = queue.waiting;
    if (first === undefined) return;
    const isStale = (lease: Lease) => now - lease.leasedAt > this.#settings.startWithinMs;
    // Leases come in the order of time: when the first is not stale, none is.
    if (queue.isSaturated) this.#releaseDue(queue, this.#load.remove(queue));
    else if (isStale(first)) this.#releaseDue(queue, this.#load.remove(queue, isStale));
  }

  /** How many leases wait that have no place to wait. */
  get #excess(): number {
    return this.#load.waiting - mostWaitingPerPermit * this.#settings.permits;
  }

  /** Of the leases that just came, releases those that neither started nor have a place to wait. */
  #releaseExcess(leases: readonly Lease[]): void {
    for (const webhookId of new Set(leases.map((lease) => lease.webhookId))) {
      const queue = this.#load.findOrCreate(webhookId);
      const kept = queue.waiting.length - this.#excess;
      this.#releaseDue(
        queue,
        this.#load.remove(queue, (_lease, index) => index >= kept),
      );
    }
  }

  /** Releases leases that were removed from a queue, which other webhooks or processes can have the capacity of. */
  #releaseDue(queue: EndpointQueue, leases: readonly Lease[]): void {
    if (leases.length === 0) return;
    queue.noteDueRows(this.#now);
    this.#stages.release(leases);
  }

  /** Ageing frees permits, and leases become stale, without any other event: looks again while anything waits. */
  #tickWhileWaiting(): void {
    if (this.#load.waiting > 0 && !this.#isStopped) {
      this.#ticker ??= setInterval(() => this.#tick(), tickMs);
    } else {
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    }
  }

  #tick(): void {
    const now = this.#now;
    for (const queue of this.#load.ready()) this.#releaseStale(queue, now);
    this.startEligible();
  }
}
