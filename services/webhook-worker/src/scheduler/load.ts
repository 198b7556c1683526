import type { Lease } from '../leases/lease.ts';
import type { Capacity } from '../pipeline/types.ts';
import { AttemptInFlight, EndpointQueue, Host, type QueueLimits } from './endpoint-queue.ts';

export interface LoadSettings {
  /** Attempts that may start at once in the whole process. */
  permits: number;
  limits: QueueLimits;
  /** Attempts younger than 1 s to one host, over all webhooks of one organization. */
  recentPerHost: number;
  /** Whether the bodies of an organization take so much memory that no more may be loaded for it. */
  isAboveShare: (organizationId: string) => boolean;
}

/** An attempt that is older than this is slow and no longer counts against the permits of its process and host. */
export const slowAfterMs = 1_000;
/** A process's permit is free again after this time, so that attempts of 1 s do not hold up all others. */
const permitHeldMs = 100;
/** While the process has so many slow attempts, troubled webhooks start none. */
const maxSlowAttempts = 1_000;
/** Leases that may wait per permit. */
const waitingPerPermit = 2;
const nothing: Lease[] = [];

/** What waits and runs in this process, over all webhooks, and how much more it may start and lease. */
export class Load {
  readonly #settings: LoadSettings;
  readonly #withoutWaiting: QueueLimits;
  readonly #onSlow: (queue: EndpointQueue) => void;
  readonly #queues = new Map<string, EndpointQueue>();
  readonly #hosts = new Map<string, Host>();
  /** Queues with leases waiting, in the order in which they are served: one start each, round and round. */
  readonly #ready = new Set<EndpointQueue>();
  #waiting = 0;
  /**
   * Attempts start in the order of time, so each set is in the order of age, and ageing moves the head of one set to the
   * next: no timers, and no scan over a thousand requests that hang.
   */
  readonly #attempts = {
    new: new Set<AttemptInFlight>(),
    recent: new Set<AttemptInFlight>(),
    slow: new Set<AttemptInFlight>(),
  };
  /** Attempts without an answer, by age. */
  readonly #unanswered = { new: 0, recent: 0, slow: 0 };
  #allEnded: PromiseWithResolvers<void> | undefined;

  /** @param onSlow called for each attempt that becomes slow before it is answered */
  constructor(settings: LoadSettings, onSlow: (queue: EndpointQueue) => void) {
    this.#settings = settings;
    this.#withoutWaiting = { ...settings.limits, waiting: 0 };
    this.#onSlow = onSlow;
  }

  /** Leases waiting over all queues. */
  get waiting(): number {
    return this.#waiting;
  }

  get figures(): { queues: number; running: number; slow: number; waiting: number } {
    const { new: fresh, recent, slow } = this.#unanswered;
    return { queues: this.#queues.size, running: fresh + recent + slow, slow, waiting: this.#waiting };
  }

  /** Queues with leases waiting. A queue that is served during the iteration comes again at its end. */
  ready(): Iterable<EndpointQueue> {
    return this.#ready;
  }

  find(webhookId: string): EndpointQueue | undefined {
    return this.#queues.get(webhookId);
  }

  /** @param hostKey of a new queue; one that stands already keeps its host */
  findOrCreate(webhookId: string, hostKey = ''): EndpointQueue {
    let queue = this.#queues.get(webhookId);
    if (queue === undefined) {
      queue = new EndpointQueue(webhookId, this.#joinHost(hostKey));
      this.#queues.set(webhookId, queue);
    }
    return queue;
  }

  add(queue: EndpointQueue, lease: Lease): void {
    queue.waiting.push(lease);
    this.#waiting += 1;
    this.#ready.add(queue);
    queue.noteWaiting();
  }

  /** Removes the waiting leases that match, or all. */
  remove(queue: EndpointQueue, matches: (lease: Lease, index: number) => boolean = () => true): Lease[] {
    if (queue.waiting.length === 0) return nothing;
    const removed: Lease[] = [];
    const kept: Lease[] = [];
    for (const [index, lease] of queue.waiting.entries()) (matches(lease, index) ? removed : kept).push(lease);
    queue.waiting = kept;
    this.#waiting -= removed.length;
    if (kept.length === 0) this.#ready.delete(queue);
    queue.noteWaiting();
    return removed;
  }

  /** The webhook's URL has another host now. @returns the leases that waited for the former host */
  moveToHost(queue: EndpointQueue, hostKey: string): Lease[] {
    const removed = this.remove(queue);
    this.#leaveHost(queue.host);
    queue.moveTo(this.#joinHost(hostKey));
    return removed;
  }

  /** Forgets endpoint queues that do nothing and remember no trouble. */
  forgetIdle(now: number): void {
    for (const queue of this.#queues.values()) this.forgetIfIdle(queue, now);
  }

  forgetIfIdle(queue: EndpointQueue, now: number): void {
    if (queue.isForgettable(now) && this.#queues.delete(queue.webhookId)) this.#leaveHost(queue.host);
  }

  /** Starts the first waiting attempt of a queue. The queue is served again after all others. */
  start(queue: EndpointQueue, now: number): AttemptInFlight {
    this.#ready.delete(queue);
    if (queue.waiting.shift() !== undefined) this.#waiting -= 1;
    if (queue.waiting.length > 0) this.#ready.add(queue);
    else queue.noteWaiting();
    const attempt = new AttemptInFlight(queue, now);
    this.#attempts.new.add(attempt);
    this.#unanswered.new += 1;
    if (attempt.ofDegraded) {
      // Degraded queues share few permits of their host; the one that started last is offered them last.
      this.#queues.delete(queue.webhookId);
      this.#queues.set(queue.webhookId, queue);
    }
    return attempt;
  }

  /** Moves attempts to the set of their age. */
  age(now: number): void {
    for (const attempt of this.#attempts.new) {
      if (now - attempt.startedAt < permitHeldMs) break;
      this.#moveTo('recent', attempt);
    }
    for (const attempt of this.#attempts.recent) {
      if (now - attempt.startedAt < slowAfterMs) break;
      this.#moveTo('slow', attempt);
      attempt.becomeSlow();
      if (!attempt.isAnswered) this.#onSlow(attempt.queue);
    }
  }

  /** Notes that the status line and headers have come, or will not come. @returns false when that was noted before */
  answer(attempt: AttemptInFlight): boolean {
    if (attempt.isAnswered) return false;
    this.#unanswered[attempt.age] -= 1;
    attempt.answer();
    return true;
  }

  /** The attempt is over. A body that is still being read is an open request to the host until then. */
  end(attempt: AttemptInFlight): void {
    this.#attempts[attempt.age].delete(attempt);
    attempt.end();
    this.#forgetHostIfUnused(attempt.host);
    if (!this.#isIdle) return;
    this.#allEnded?.resolve();
    this.#allEnded = undefined;
  }

  /** Resolves when no attempt is under way. */
  async allEnded(): Promise<void> {
    if (this.#isIdle) return;
    this.#allEnded ??= Promise.withResolvers();
    await this.#allEnded.promise;
  }

  /** Attempts that may start at once, as of the last ageing: no more than `permits` are younger than 100 ms. */
  get freePermits(): number {
    return Math.max(0, this.#settings.permits - this.#unanswered.new);
  }

  /** Fewer leases wait than attempts may run. */
  get isShort(): boolean {
    return this.#waiting < this.#settings.permits;
  }

  isEligible(queue: EndpointQueue, now: number): boolean {
    const { limits, recentPerHost } = this.#settings;
    if (queue.running >= queue.concurrency(limits) || !this.#mayStart(queue, now)) return false;
    return queue.freeHostPermits(recentPerHost, now) > 0;
  }

  /**
   * Whether a queue could use many more leases. With many backlogs each queue is short: asking for a few rows at every
   * answer would keep the ledger walking. A process with few free places asks for what can start at once.
   */
  isHalfEmpty(queue: EndpointQueue): boolean {
    const { limits } = this.#settings;
    if (this.isShort) return queue.freeCapacity(limits) * 2 >= limits.waiting;
    return queue.freeCapacity(this.#withoutWaiting) * 2 >= limits.concurrency && this.freePermits > 0;
  }

  /**
   * How many new deliveries this process could use. None while more leases wait than attempts may run, so that deliveries
   * come in batches. Unlimited while permits are free although many leases wait: these wait for their own endpoints, which
   * is no reason to keep the deliveries of other webhooks waiting.
   */
  freeCapacity(): number {
    if (this.#waiting <= this.#settings.permits) return this.#freePlaces;
    return this.freePermits > 0 ? Number.POSITIVE_INFINITY : 0;
  }

  /**
   * The capacity for deliveries of `new` events or for `due` rows.
   *
   * When fewer leases may wait than attempts may start, those that wait do so for their own endpoints: other webhooks
   * are then offered what can start at once. The permits that a host has for degraded queues are offered only once,
   * because leases that wait for one would use up capacity of this process.
   */
  capacity(kind: 'new' | 'due', now: number): Omit<Capacity, 'pausedOrganizations'> {
    const freePlaces = this.#freePlaces;
    const isAtOnce = freePlaces < this.freePermits;
    const limits = isAtOnce ? this.#withoutWaiting : this.#settings.limits;
    const offeredToDegraded = new Map<Host, number>();
    const [webhookIds, free, busy]: [string[], number[], number[]] = [[], [], []];
    for (const queue of this.#queues.values()) {
      let most = 0;
      if (this.#mayStart(queue, now) && !this.#settings.isAboveShare(queue.host.organizationId)) {
        most = kind === 'new' ? queue.freeCapacityForNew(limits) : queue.freeCapacity(limits);
      }
      if (most > 0 && (isAtOnce || queue.isDegraded || queue.waitsForSlow(now))) {
        most = this.#limitByHost(queue, most, offeredToDegraded, now);
      }
      webhookIds.push(queue.webhookId);
      free.push(most);
      busy.push(queue.running + queue.waiting.length);
    }
    const ofNewQueue = limits.concurrency + limits.waiting;
    return { webhookIds, free, busy, ofNewQueue, total: Math.max(freePlaces, this.freePermits) };
  }

  get #freePlaces(): number {
    return Math.max(0, waitingPerPermit * this.#settings.permits - this.#waiting);
  }

  get #isIdle(): boolean {
    const { new: fresh, recent, slow } = this.#attempts;
    return fresh.size + recent.size + slow.size === 0;
  }

  #mayStart(queue: EndpointQueue, now: number): boolean {
    return this.#unanswered.slow < maxSlowAttempts || !queue.isTroubled(now);
  }

  #limitByHost(queue: EndpointQueue, wanted: number, offeredToDegraded: Map<Host, number>, now: number): number {
    const ofHost = queue.freeHostPermits(this.#settings.recentPerHost, now);
    if (!queue.isDegraded) return Math.max(0, Math.min(wanted, ofHost));
    const before = offeredToDegraded.get(queue.host) ?? 0;
    const offered = Math.max(0, Math.min(wanted, ofHost - before));
    offeredToDegraded.set(queue.host, before + offered);
    return offered;
  }

  #moveTo(age: 'recent' | 'slow', attempt: AttemptInFlight): void {
    this.#attempts[attempt.age].delete(attempt);
    this.#attempts[age].add(attempt);
    if (!attempt.isAnswered) {
      this.#unanswered[attempt.age] -= 1;
      this.#unanswered[age] += 1;
    }
    attempt.age = age;
  }

  #joinHost(key: string): Host {
    const host = this.#hosts.get(key) ?? new Host(key);
    this.#hosts.set(key, host);
    host.queues += 1;
    return host;
  }

  #leaveHost(host: Host): void {
    host.queues -= 1;
    this.#forgetHostIfUnused(host);
  }

  #forgetHostIfUnused(host: Host): void {
    if (host.queues === 0 && host.recent === 0 && host.slow === 0) this.#hosts.delete(host.key);
  }
}
