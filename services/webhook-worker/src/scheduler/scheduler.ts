import type { Clock } from '@enterprise-api/shared/runtime';
import type { Lease } from '../leases/lease.ts';
import type { KnownPauses } from '../pauses/sending-pauses.ts';

export interface SchedulerSettings {
  clock: Clock;
  /** Limits this process's attempts younger than 1 s, and the waiting leases per webhook. */
  permits: number;
  /** Limits the attempts of one webhook. */
  concurrency: number;
  /** The scheduler releases a lease older than this instead of starting its attempt. */
  startWithinMs: number;
  pauses: KnownPauses;
}

export interface SchedulerPorts {
  /** Makes the attempt and acts on its result. Never rejects. Returns whether the receiver answered. */
  deliver(lease: Lease): Promise<boolean>;
  release(leases: readonly Lease[]): void;
  organizationsAboveShare(): readonly string[];
  /** Called when an endpoint queue has due deliveries in the ledger and could use many more leases. */
  refillNeeded(): void;
  /** Called when an attempt has ended and few leases wait, so that fan-out can use the capacity for new deliveries. */
  capacityFreed(): void;
}

/** This process's capacity for further leases. `webhookIds`, `free` and `busy` have one entry per endpoint queue. */
export interface Capacity {
  webhookIds: string[];
  free: number[];
  /** Running attempts plus waiting leases. */
  busy: number[];
  /** The free capacity of a webhook without an endpoint queue in this process. */
  ofNewQueue: number;
  /** How many attempts of one webhook this process runs at a time. */
  concurrency: number;
  total: number;
  /** Organizations that get no leases now, because an operator paused them or their bodies take too much memory. */
  pausedOrganizations: readonly string[];
}

/** An attempt older than this is slow and holds no permit. */
const slowAfterMs = 1_000;
/** Limits attempts of a degraded webhook: enough to notice that its endpoint recovers, too few to hurt the endpoint. */
const degradedConcurrency = 5;
/** While the process has this many slow attempts, degraded webhooks start no attempts. */
const maxSlow = 1_000;
/** While an organization has this many slow attempts at a host, each of its webhooks there runs one attempt. */
const maxSlowPerHost = 100;
const waitingPerPermit = 2;
const tickMs = 50;

/** If a lease of a limited webhook is older, the scheduler releases it: the limit allowed its attempt earlier. */
const startLimitedWithinMs = 400;

/** A degraded webhook without a further attempt stays degraded for this long. */
const rememberedMs = 5 * 60_000;

interface EndpointQueue {
  readonly webhookId: string;
  /** Organization and host of the newest lease; empty before the first lease. */
  hostKey: string;
  waiting: Lease[];
  /** When the ledger was last known to have due deliveries that this process did not lease; null = none known. */
  dueNotedAt: number | null;
  /** `running` counts attempts until the last byte of the response; `slow` counts the slow attempts among them. */
  running: number;
  slow: number;
  /** When an attempt last became slow. A quick answer resets this to null, unless another attempt is slow. */
  degradedAt: number | null;
}

interface AttemptInFlight extends Pick<Lease, 'organizationId' | 'hostKey'> {
  queue: EndpointQueue;
  startedAt: number;
}

/** Decides when each leased delivery starts, so that no endpoint or organization can use up the process's capacity. */
export class Scheduler {
  isStopped = false;
  readonly #settings: SchedulerSettings;
  readonly #queues = new Map<string, EndpointQueue>();
  /** Queues with waiting leases, by organization. The order makes organizations and queues alternate. */
  readonly #ready = new Map<string, Set<EndpointQueue>>();
  /** Attempts that hold a permit, the oldest first. */
  readonly #young = new Set<AttemptInFlight>();
  readonly #youngOfOrganization = new Map<string, number>();
  readonly #slowAtHost = new Map<string, number>();
  #slow = 0;
  #waiting = 0;
  #limited: ReadonlySet<string> = new Set();
  #stages!: SchedulerPorts;
  #ticker: NodeJS.Timeout | undefined;
  readonly #allEnded = Promise.withResolvers<void>();

  constructor(settings: SchedulerSettings) {
    this.#settings = settings;
  }

  connect(ports: SchedulerPorts): void {
    this.#stages = ports;
  }

  accept(leases: readonly Lease[]): void {
    const isHalted = ({ organizationId }: Lease) => this.isHalted(organizationId);
    this.#release(leases.filter(isHalted));
    for (const lease of leases.filter((each) => !isHalted(each))) this.#add(lease);
    this.startEligible();
  }

  /** Tells whether no attempt of the organization may start: an operator paused sending, or this process stops. */
  isHalted(organizationId: Lease['organizationId']): boolean {
    return this.#isOff || this.#settings.pauses.organizationIds.has(organizationId);
  }

  /** Notes that the ledger has due deliveries of these webhooks that this process did not lease. */
  noteDueRows(webhookIds: Iterable<string>): void {
    // Dispatch finds the due deliveries when sending resumes. Until then, thousands of queues would only slow fan-out.
    if (this.#settings.pauses.isAllPaused) return;
    for (const id of webhookIds) this.#queueOf(id).dueNotedAt = this.#now;
  }

  /** Notes that a statement, sent at `askedAt` (monotonic), found no further due deliveries of these webhooks. */
  noteNoneDue(webhookIds: Iterable<string>, askedAt: number): void {
    for (const id of webhookIds) {
      const queue = this.#queues.get(id);
      // The statement may have missed deliveries that were noted after it was sent.
      if (queue?.dueNotedAt != null && queue.dueNotedAt < askedAt) queue.dueNotedAt = null;
    }
  }

  /** Wakes dispatch if a queue has room for its due deliveries. The end of an attempt does the same for its queue. */
  refill(webhookIds: readonly string[]): void {
    if (webhookIds.some((id) => this.#needsRefill(this.#queues.get(id)))) this.#stages.refillNeeded();
  }

  /** Notes the webhooks whose due deliveries may wait for a limit. */
  noteLimited(webhookIds: readonly string[]): void {
    this.#limited = new Set(webhookIds);
  }

  /** Wakes dispatch if these outcomes may let a limited webhook's deliveries start. Call it once they are recorded. */
  noteRecorded(outcomes: readonly { webhookId: string }[]): void {
    if (outcomes.some(({ webhookId }) => this.#limited.has(webhookId))) this.#stages.refillNeeded();
  }

  /**
   * Releases the waiting leases of a webhook whose circuit opened, or which changed and may be paused now. The ledger
   * knows when each delivery may be leased again.
   */
  releaseWaiting(webhookId: string): void {
    const queue = this.#queues.get(webhookId);
    if (queue !== undefined) this.#release(this.#remove(queue));
  }

  releasePaused(): void {
    this.#releaseWhere(({ organizationId }) => this.isHalted(organizationId));
  }

  /** Starts attempts while permits are free. Call it before reading capacity: waiting leases take permits first. */
  startEligible(): void {
    const now = this.#now;
    this.#age(now);
    // A served organization moves to the end of the map, so this loop reaches it again.
    for (const organizationId of this.#ready.keys()) {
      if (this.#freePermits === 0) break;
      const queue = this.#nextQueueOf(organizationId, now);
      if (queue !== undefined) this.#start(queue, now);
    }
    this.#tickWhileWaiting();
  }

  forgetIdle(): void {
    for (const queue of this.#queues.values()) this.#forgetIfIdle(queue);
  }

  /**
   * Returns the capacity per webhook, for deliveries of `new` events or for `due` deliveries. If more permits are free
   * than further leases may wait, endpoints block their own waiting leases. Other webhooks then get the permits.
   */
  capacity(kind: 'new' | 'due'): Capacity {
    const { pauses, concurrency } = this.#settings;
    const queues = [...this.#queues.values()];
    return {
      webhookIds: queues.map((queue) => queue.webhookId),
      free: queues.map((queue) => this.#freeOf(queue, kind)),
      busy: queues.map((queue) => queue.running + queue.waiting.length),
      ofNewQueue: concurrency + this.#placesPerQueue,
      concurrency,
      total: this.#isOff ? 0 : Math.max(this.#freePlaces, this.#freePermits),
      pausedOrganizations: [...pauses.organizationIds, ...this.#stages.organizationsAboveShare()],
    };
  }

  /**
   * Tells how many new deliveries this process could use. Returns 0 while more leases wait than attempts may run, so
   * that deliveries arrive in batches. If permits are free nevertheless, or while nothing is sent, returns Infinity.
   */
  freeCapacity(): number {
    if (!this.#isOff && this.#waiting <= this.#settings.permits) return this.#freePlaces;
    return this.#isOff || this.#freePermits > 0 ? Number.POSITIVE_INFINITY : 0;
  }

  /** Releases waiting leases and starts no further attempt. Running attempts continue. */
  stop(): void {
    this.isStopped = true;
    clearTimeout(this.#ticker);
    this.#releaseWhere(() => true);
  }

  async allEnded(): Promise<void> {
    if (this.figures.running > 0) await this.#allEnded.promise;
  }

  get figures(): { queues: number; running: number; slow: number; waiting: number } {
    const running = this.#young.size + this.#slow;
    return { queues: this.#queues.size, running, slow: this.#slow, waiting: this.#waiting };
  }

  get #now(): number {
    return this.#settings.clock.monotonic();
  }

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
   * Limits a queue's further leases. In a degraded queue no lease may wait, because endpoints that hang would fill the
   * process's capacity. While older deliveries are due, new ones get half the limit, so that the older ones do not wait
   * forever.
   */
  #freeOf(queue: EndpointQueue, kind: 'new' | 'due'): number {
    const places = this.#concurrencyOf(queue) + (queue.degradedAt === null ? this.#placesPerQueue : 0);
    const limit = kind === 'new' && queue.dueNotedAt !== null ? Math.floor(places / 2) : places;
    return Math.max(0, limit - queue.running - queue.waiting.length);
  }

  /** A refill needs room for many leases, so that dispatch does not run after every attempt. */
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

  #remove(queue: EndpointQueue, matches: (lease: Lease) => boolean = () => true): Lease[] {
    const [first] = queue.waiting;
    if (first === undefined) return [];
    const removed = queue.waiting.filter(matches);
    queue.waiting = queue.waiting.filter((lease) => !matches(lease));
    this.#waiting -= removed.length;
    this.#putLast(queue, first.organizationId);
    return removed;
  }

  /** Moves a queue and its organization behind all others with waiting leases. */
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
    const { startWithinMs } = this.#settings;
    const isStale = ({ leasedAt, isLimited }: Lease) =>
      now - leasedAt > (isLimited ? Math.min(startLimitedWithinMs, startWithinMs) : startWithinMs);
    for (const queue of this.#ready.get(organizationId) ?? []) {
      // Leases are ordered by time: if the first one is young enough to start, all others are.
      if (queue.waiting.slice(0, 1).some(isStale)) this.#release(this.#remove(queue, isStale));
      if (queue.waiting.length > 0 && queue.running < this.#concurrencyOf(queue)) return queue;
    }
    return undefined;
  }

  #start(queue: EndpointQueue, now: number): void {
    const lease = queue.waiting.shift();
    if (lease === undefined) return;
    const { organizationId, hostKey } = lease;
    this.#waiting -= 1;
    this.#putLast(queue, organizationId);
    const attempt = { queue, organizationId, hostKey, startedAt: now };
    queue.running += 1;
    this.#young.add(attempt);
    count(this.#youngOfOrganization, organizationId, 1);
    void this.#stages.deliver(lease).then((isAnswered) => this.#ended(attempt, isAnswered));
  }

  /** Marks old attempts as slow. The set is in the order of starts. */
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
    const { queue, organizationId, hostKey, startedAt } = attempt;
    queue.running -= 1;
    if (this.#young.delete(attempt)) {
      count(this.#youngOfOrganization, organizationId, -1);
    } else {
      this.#slow -= 1;
      queue.slow -= 1;
      count(this.#slowAtHost, hostKey, -1);
    }
    const isQuick = isAnswered && this.#now - startedAt < slowAfterMs;
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

  /** Runs `startEligible` while leases wait: with time, attempts become slow, and leases become too old to start. */
  #tickWhileWaiting(): void {
    if (this.#waiting === 0) return;
    this.#ticker ??= setTimeout(() => {
      this.#ticker = undefined;
      this.startEligible();
    }, tickMs);
  }
}

function count(counts: Map<string, number>, key: string, change: number): void {
  const sum = (counts.get(key) ?? 0) + change;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
