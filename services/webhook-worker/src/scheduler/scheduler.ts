import type { Clock } from '@enterprise-api/shared/runtime';
import type { Lease } from '../leases/lease.ts';
import type { KnownPauses } from '../pauses/sending-pauses.ts';

export interface SchedulerSettings {
  clock: Clock;
  /** Attempts of this process that are younger than 1 s; as many leases of one webhook may wait. */
  permits: number;
  /** Attempts of one webhook. */
  concurrency: number;
  /** A lease older than this is released instead of started. */
  startWithinMs: number;
  pauses: KnownPauses;
  /** Organizations that get no more leases, because their bodies take too much memory. */
  organizationsAboveShare: () => readonly string[];
}

/** What the scheduler needs of the stages around it. */
export interface SchedulerPorts {
  /**
   * Makes the attempt and acts on its result. Never rejects.
   *
   * @param onConnect the attempt begins to connect: the wait before that says nothing about its endpoint
   * @returns whether the receiver answered
   */
  deliver(lease: Lease, onConnect: () => void): Promise<boolean>;
  /** Leases that were not started: other processes may have them now. */
  release(leases: readonly Lease[]): void;
  /** An endpoint queue with due rows in the ledger could use many more leases. */
  refillNeeded(): void;
  /** An attempt has ended and few leases wait: there is capacity for new deliveries. */
  capacityFreed(): void;
}

/** How many deliveries of each webhook this process may lease now; the lists have one entry per endpoint queue. */
export interface Capacity {
  /** Webhooks that have an endpoint queue here. */
  webhookIds: string[];
  /** The free capacity of each. */
  free: number[];
  /** What each has running and waiting here already. */
  busy: number[];
  /** The free capacity of a webhook without an endpoint queue here. */
  ofNewQueue: number;
  /** Over all webhooks. */
  total: number;
  /** Organizations of which nothing is leased now: an operator has paused them, or their bodies take too much memory. */
  pausedOrganizations: readonly string[];
}

/** An attempt that is older than this is slow and holds no permit. */
const slowAfterMs = 1_000;
/** Attempts of a degraded webhook: enough to notice its recovery, too few to hurt it. */
const degradedConcurrency = 5;
/** While the process has so many slow attempts, degraded webhooks start none. */
const maxSlow = 1_000;
/** While an organization has so many slow attempts at one host, each of its webhooks there has one attempt at most. */
const maxSlowPerHost = 100;
/** Leases that may wait per permit. */
const waitingPerPermit = 2;
const tickMs = 50;

/** How long a webhook stays degraded without another attempt. */
const rememberedMs = 5 * 60_000;

/** The leases of one webhook in this process: which wait, how many run, and whether its endpoint is slow. */
interface EndpointQueue {
  readonly webhookId: string;
  /** Organization and host of the newest lease; empty before the first one. */
  hostKey: string;
  waiting: Lease[];
  /** When rows of this webhook were due in the ledger beyond what was leased here; null when none are known. */
  dueNotedAt: number | null;
  /** Attempts from their start to the last byte of the answer, and how many of them are slow. */
  running: number;
  slow: number;
  /** When an attempt became slow; null once none is slow and one was answered quickly. The webhook is degraded until then. */
  degradedAt: number | null;
}

interface AttemptInFlight extends Pick<Lease, 'organizationId' | 'hostKey'> {
  queue: EndpointQueue;
  startedAt: number;
  /** When it began to connect, or its start: excludes the time queued inside the worker. */
  connectingAt: number;
}

/** Decides which leased delivery starts when, so that no endpoint and no organization can use up the process's capacity. */
export class Scheduler {
  isStopped = false;
  readonly #settings: SchedulerSettings;
  readonly #queues = new Map<string, EndpointQueue>();
  /** By organization, the queues in which leases wait. Organizations are served in turn, and so are the queues of each. */
  readonly #ready = new Map<string, Set<EndpointQueue>>();
  /** Attempts that hold a permit, the oldest first. */
  readonly #young = new Set<AttemptInFlight>();
  readonly #youngOfOrganization = new Map<string, number>();
  readonly #slowAtHost = new Map<string, number>();
  #slow = 0;
  #waiting = 0;
  #stages!: SchedulerPorts;
  #ticker: NodeJS.Timeout | undefined;
  readonly #allEnded = Promise.withResolvers<void>();

  constructor(settings: SchedulerSettings) {
    this.#settings = settings;
  }

  /** Connects the scheduler with the stages before and behind it. Called once, before the first lease. */
  connect(ports: SchedulerPorts): void {
    this.#stages = ports;
  }

  /** Puts leases into their endpoint queues and starts what may start. */
  accept(leases: readonly Lease[]): void {
    const isRefused = (lease: Lease) => this.isStopped || this.#settings.pauses.isPaused(lease.organizationId);
    this.#release(leases.filter(isRefused));
    for (const lease of leases.filter((each) => !isRefused(each))) this.#add(lease);
    this.startEligible();
  }

  /** Notes that rows of these webhooks are due in the ledger, beyond what was leased here. */
  noteDueRows(webhookIds: Iterable<string>): void {
    // Whoever has something due is found when sending goes on; thousands of queues in memory would only slow fan-out down.
    if (this.#settings.pauses.isAllPaused) return;
    for (const id of webhookIds) this.#queueOf(id).dueNotedAt = this.#now;
  }

  /** Notes that a statement, sent at `askedAt` (monotonic), found no more due rows of these webhooks than it leased. */
  noteNoneDue(webhookIds: Iterable<string>, askedAt: number): void {
    for (const id of webhookIds) {
      const queue = this.#queues.get(id);
      // The statement may not have seen rows that were noted since it was sent.
      if (queue?.dueNotedAt != null && queue.dueNotedAt < askedAt) queue.dueNotedAt = null;
    }
  }

  /** Has dispatch look for due rows of these webhooks. It also does so when an attempt ends, but none may be under way. */
  refill(webhookIds: readonly string[]): void {
    if (webhookIds.some((id) => this.#needsRefill(this.#queues.get(id)))) this.#stages.refillNeeded();
  }

  /** The circuit of a webhook has opened: releases what waits. The ledger alone knows until when it is open. */
  releaseWaiting(webhookId: string): void {
    const queue = this.#queues.get(webhookId);
    if (queue !== undefined) this.#release(this.#remove(queue));
  }

  /** An operator has paused deliveries: releases those of them that wait. */
  releasePaused(): void {
    this.#releaseWhere((lease) => this.#settings.pauses.isPaused(lease.organizationId));
  }

  /** Starts what may start now. Called before capacity is read: waiting leases come before new ones when permits are free. */
  startEligible(): void {
    const now = this.#now;
    this.#age(now);
    // An organization that is served comes again at the end of this iteration.
    for (const organizationId of this.#ready.keys()) {
      if (this.#freePermits === 0) break;
      const queue = this.#nextQueueOf(organizationId, now);
      if (queue !== undefined) this.#start(queue, now);
    }
    this.#tickWhileWaiting();
  }

  /** Forgets endpoint queues that do nothing and were not slow lately. */
  forgetIdle(): void {
    for (const queue of this.#queues.values()) this.#forgetIfIdle(queue);
  }

  /**
   * The capacity per webhook, for deliveries of `new` events or for `due` rows. Where fewer leases may wait than attempts may
   * start, those that wait do so for their own endpoints: other webhooks are then offered what can start at once.
   */
  capacity(kind: 'new' | 'due'): Capacity {
    const { pauses, concurrency, organizationsAboveShare } = this.#settings;
    const queues = [...this.#queues.values()];
    return {
      webhookIds: queues.map((queue) => queue.webhookId),
      free: queues.map((queue) => this.#freeOf(queue, kind)),
      busy: queues.map((queue) => queue.running + queue.waiting.length),
      ofNewQueue: concurrency + this.#placesPerQueue,
      total: this.#isOff ? 0 : Math.max(this.#freePlaces, this.#freePermits),
      pausedOrganizations: [...pauses.organizationIds, ...organizationsAboveShare()],
    };
  }

  /**
   * How many new deliveries this process could use. None while more leases wait than attempts may run, so that deliveries
   * come in batches. Unlimited while permits are free although many leases wait; and where all are for other processes.
   */
  freeCapacity(): number {
    if (!this.#isOff && this.#waiting <= this.#settings.permits) return this.#freePlaces;
    return this.#isOff || this.#freePermits > 0 ? Number.POSITIVE_INFINITY : 0;
  }

  /** Starts nothing more and releases what waits. Attempts under way go on. */
  stop(): void {
    this.isStopped = true;
    clearTimeout(this.#ticker);
    this.#releaseWhere(() => true);
  }

  /** Resolves when no attempt is under way. */
  async allEnded(): Promise<void> {
    if (this.figures.running > 0) await this.#allEnded.promise;
  }

  /** Figures for the metrics. */
  get figures(): { queues: number; running: number; slow: number; waiting: number } {
    const running = this.#young.size + this.#slow;
    return { queues: this.#queues.size, running, slow: this.#slow, waiting: this.#waiting };
  }

  get #now(): number {
    return this.#settings.clock.monotonic();
  }

  /** This process leases nothing more. */
  get #isOff(): boolean {
    return this.isStopped || this.#settings.pauses.isAllPaused;
  }

  get #freePermits(): number {
    return Math.max(0, this.#settings.permits - this.#young.size);
  }

  get #freePlaces(): number {
    return Math.max(0, waitingPerPermit * this.#settings.permits - this.#waiting);
  }

  get #placesPerQueue(): number {
    return this.#freePlaces < this.#freePermits ? 0 : this.#settings.permits;
  }

  #concurrencyOf({ degradedAt, hostKey }: EndpointQueue): number {
    const { concurrency } = this.#settings;
    if (degradedAt !== null && this.#slow >= maxSlow) return 0;
    if ((this.#slowAtHost.get(hostKey) ?? 0) >= maxSlowPerHost) return 1;
    return degradedAt === null ? concurrency : Math.min(degradedConcurrency, concurrency);
  }

  /**
   * How many more leases a queue can use. In a degraded one none may wait: endpoints that hang would fill the process's
   * capacity. While older deliveries are due, new ones get half: they would keep the older ones waiting for ever.
   */
  #freeOf(queue: EndpointQueue, kind: 'new' | 'due'): number {
    const places = this.#concurrencyOf(queue) + (queue.degradedAt === null ? this.#placesPerQueue : 0);
    const limit = kind === 'new' && queue.dueNotedAt !== null ? Math.floor(places / 2) : places;
    return Math.max(0, limit - queue.running - queue.waiting.length);
  }

  /** With many backlogs each queue is short: to ask for a few rows whenever an attempt ends would keep the ledger busy. */
  #needsRefill(queue: EndpointQueue | undefined): boolean {
    if (this.isStopped || queue === undefined || queue.dueNotedAt === null) return false;
    const canUseMore = this.#waiting < this.#settings.permits || this.#freePermits > 0;
    return canUseMore && this.#freeOf(queue, 'due') * 2 >= this.#settings.concurrency + this.#placesPerQueue;
  }

  #queueOf(webhookId: string): EndpointQueue {
    let queue = this.#queues.get(webhookId);
    if (queue === undefined) {
      queue = { webhookId, hostKey: '', waiting: [], dueNotedAt: null, running: 0, slow: 0, degradedAt: null };
      this.#queues.set(webhookId, queue);
    }
    return queue;
  }

  #add(lease: Lease): void {
    const queue = this.#queueOf(lease.webhookId);
    queue.hostKey = lease.hostKey;
    queue.waiting.push(lease);
    this.#waiting += 1;
    this.#ready.set(lease.organizationId, (this.#ready.get(lease.organizationId) ?? new Set()).add(queue));
  }

  /** Removes the waiting leases that match, or all. */
  #remove(queue: EndpointQueue, matches: (lease: Lease) => boolean = () => true): Lease[] {
    const [first] = queue.waiting;
    if (first === undefined) return [];
    const removed = queue.waiting.filter(matches);
    queue.waiting = queue.waiting.filter((lease) => !matches(lease));
    this.#waiting -= removed.length;
    this.#putLast(queue, first.organizationId);
    return removed;
  }

  /** All others in which leases wait are served before this queue and its organization. */
  #putLast(queue: EndpointQueue, organizationId: string): void {
    const queues = this.#ready.get(organizationId) ?? new Set();
    queues.delete(queue);
    if (queue.waiting.length > 0) queues.add(queue);
    this.#ready.delete(organizationId);
    if (queues.size > 0) this.#ready.set(organizationId, queues);
  }

  #nextQueueOf(organizationId: string, now: number): EndpointQueue | undefined {
    const half = Math.ceil(this.#settings.permits / 2);
    if (this.#ready.size > 1 && (this.#youngOfOrganization.get(organizationId) ?? 0) >= half) return undefined;
    const isStale = ({ leasedAt }: Lease) => now - leasedAt > this.#settings.startWithinMs;
    for (const queue of this.#ready.get(organizationId) ?? []) {
      // Leases come in the order of time: when the first is not too old to start, none is.
      if (queue.waiting.slice(0, 1).some(isStale)) this.#release(this.#remove(queue, isStale));
      if (queue.waiting.length > 0 && queue.running < this.#concurrencyOf(queue)) return queue;
    }
    return undefined;
  }

  /** Starts the first lease that waits. */
  #start(queue: EndpointQueue, now: number): void {
    const lease = queue.waiting.shift();
    if (lease === undefined) return;
    const { organizationId, hostKey } = lease;
    this.#waiting -= 1;
    this.#putLast(queue, organizationId);
    const attempt = { queue, organizationId, hostKey, startedAt: now, connectingAt: now };
    queue.running += 1;
    this.#young.add(attempt);
    count(this.#youngOfOrganization, organizationId, 1);
    const connects = () => {
      attempt.connectingAt = this.#now;
    };
    void this.#stages.deliver(lease, connects).then((isAnswered) => this.#ended(attempt, isAnswered));
  }

  /** Attempts start in the order of time, so the first that is young ends the search. */
  #age(now: number): void {
    for (const attempt of this.#young) {
      if (now - attempt.startedAt < slowAfterMs) return;
      const { queue, organizationId, hostKey } = attempt;
      this.#young.delete(attempt);
      count(this.#youngOfOrganization, organizationId, -1);
      this.#slow += 1;
      count(this.#slowAtHost, hostKey, 1);
      queue.slow += 1;
      queue.degradedAt = now;
      this.#release(this.#remove(queue));
    }
  }

  #ended(attempt: AttemptInFlight, isAnswered: boolean): void {
    const { queue, organizationId, hostKey, connectingAt } = attempt;
    queue.running -= 1;
    if (this.#young.delete(attempt)) {
      count(this.#youngOfOrganization, organizationId, -1);
    } else {
      this.#slow -= 1;
      queue.slow -= 1;
      count(this.#slowAtHost, hostKey, -1);
    }
    const isQuick = isAnswered && this.#now - connectingAt < slowAfterMs;
    if (isQuick && queue.slow === 0) queue.degradedAt = null;
    if (!this.isStopped) {
      if (this.#waiting > 0) this.startEligible();
      if (this.#waiting < this.#settings.permits) this.#stages.capacityFreed();
      if (this.#needsRefill(queue)) this.#stages.refillNeeded();
    }
    this.#forgetIfIdle(queue);
    if (this.isStopped && this.figures.running === 0) this.#allEnded.resolve();
  }

  #forgetIfIdle(queue: EndpointQueue): void {
    const { running, waiting, dueNotedAt, degradedAt } = queue;
    if (running > 0 || waiting.length > 0 || dueNotedAt !== null) return;
    if (degradedAt === null || this.#now - degradedAt >= rememberedMs) this.#queues.delete(queue.webhookId);
  }

  #releaseWhere(matches: (lease: Lease) => boolean): void {
    this.#release([...this.#queues.values()].flatMap((queue) => this.#remove(queue, matches)));
  }

  #release(leases: readonly Lease[]): void {
    if (leases.length > 0) this.#stages.release(leases);
  }

  /** Attempts become slow, and leases too old to start, without any other event: looks again while leases wait. */
  #tickWhileWaiting(): void {
    if (this.#waiting === 0) return;
    this.#ticker ??= setTimeout(() => {
      this.#ticker = undefined;
      this.startEligible();
    }, tickMs);
  }
}

/** A number that is zero is forgotten. */
function count(counts: Map<string, number>, key: string, change: number): void {
  const sum = (counts.get(key) ?? 0) + change;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
