import type { Lease } from '../leases/lease.ts';

/** Limits of each endpoint queue. */
export interface QueueLimits {
  /** In flight per webhook. */
  concurrency: number;
  /** Waiting per webhook, unless it is degraded. */
  waiting: number;
}

/** Attempts in flight of a slow or degraded endpoint: enough to notice its recovery, too few to hurt it. */
const slowConcurrency = 5;
/** Recent attempts per host; more where a single webhook may have more (`WEBHOOK_ENDPOINT_CONCURRENCY`). */
const leastRecentPerHost = 20;
/**
 * Slow attempts per host. While there are so many, only webhooks that have answered quickly within the last 5 minutes
 * start, one attempt at a time each. A webhook of which nothing is known waits, because the host may hang for every
 * webhook of the organization.
 */
const maxSlowPerHost = 100;
/** How long a timeout or a slow attempt counts against an endpoint, and a quick answer in its favour. */
const rememberedMs = 5 * 60_000;
const never = Number.NEGATIVE_INFINITY;

/** How many attempts to one host may be younger than 1 s. */
export function recentLimitPerHost(endpointConcurrency: number): number {
  return Math.max(leastRecentPerHost, endpointConcurrency);
}

/**
 * The organization and the host name or address literal in the URL. The port is left out: one machine has many ports,
 * and the limit protects machines. The resolved address is left out as well: large providers share one among strangers.
 */
export function hostKeyOf(organizationId: string, url: string): string {
  return `${organizationId} ${URL.parse(url)?.hostname ?? ''}`;
}

/**
 * Attempts under way to one host for one organization, over all its webhooks. An organization that registers the host of
 * a stranger a hundred times must not make this process flood that host, and a webhook that hangs must not stop the
 * organization's other webhooks at the same host. So recent attempts (younger than 1 s) and slow ones count apart, and
 * each webhook has a share of the recent ones.
 */
export class Host {
  readonly key: string;
  /** Attempts younger than 1 s, until the last byte of the answer. */
  recent = 0;
  /** Those of them that a degraded endpoint queue started. */
  recentOfDegraded = 0;
  /** Attempts older than 1 s, until the last byte of the answer. */
  slow = 0;
  /** Endpoint queues of this host that are not degraded and have leases waiting. */
  waitingQueues = 0;
  /** Endpoint queues of this host. */
  queues = 0;

  constructor(key: string) {
    this.key = key;
  }

  /** Empty while nothing is known of a webhook but its id. */
  get organizationId(): string {
    return this.key.slice(0, Math.max(0, this.key.indexOf(' ')));
  }

  /** A recent attempt of a degraded queue counts as slow from its start: it will most likely become so. */
  get freeSlowPermits(): number {
    return maxSlowPerHost - this.slow - this.recentOfDegraded;
  }
}

/** The leases of one webhook in this process: how many run, which wait, and how the endpoint has been behaving. */
export class EndpointQueue {
  readonly webhookId: string;
  /** Where its leases go. */
  host: Host;
  waiting: Lease[] = [];
  /** Attempts that have not been answered. */
  running = 0;
  /** Those of them that are older than 1 s. */
  slow = 0;
  /** Attempts that have not ended: answered ones are read to their last byte. */
  open = 0;
  /** Those of them that are younger than 1 s. */
  recentAtHost = 0;
  #hasDueRows = false;
  #dueRowsNotedAt = never;
  lastTimeoutAt = never;
  /** When an attempt last became slow, until a later one is answered within 1 s. */
  #degradedSince = never;
  /** When an attempt was last answered within 1 s. */
  #answeredQuicklyAt = never;
  /** Whether the host counts it among the queues that wait. */
  #countsAsWaiting = false;

  constructor(webhookId: string, host: Host) {
    this.webhookId = webhookId;
    this.host = host;
  }

  /** Whether an attempt has become slow and none has been answered within 1 s since. */
  get isDegraded(): boolean {
    return this.#degradedSince !== never;
  }

  /** Whether rows of this webhook are due in the ledger beyond what was leased here. */
  get hasDueRows(): boolean {
    return this.#hasDueRows;
  }

  /** Whether an attempt is slow now, or one timed out within the last 5 minutes. */
  isTroubled(now: number): boolean {
    return this.slow > 0 || now - this.lastTimeoutAt <= rememberedMs;
  }

  /** Whether a queue that is not degraded starts nothing until a slow attempt of its host has ended. */
  waitsForSlow(now: number): boolean {
    return this.host.slow >= maxSlowPerHost && !this.#hasAnsweredQuickly(now);
  }

  /** Whether its leases would wait for slow attempts to end. Its host has no permit for them before that. */
  get isSaturated(): boolean {
    return this.isDegraded && this.host.freeSlowPermits <= 0;
  }

  /**
   * Whether it does nothing and remembers no trouble. A quick answer is remembered while attempts of its host are slow:
   * beside many slow ones it decides whether the webhook may start.
   */
  isForgettable(now: number): boolean {
    if (this.open > 0 || this.waiting.length > 0 || this.hasDueRows) return false;
    if (now - Math.max(this.lastTimeoutAt, this.#degradedSince) < rememberedMs) return false;
    return this.host.slow === 0 || !this.#hasAnsweredQuickly(now);
  }

  /** Attempts that may run at the same time. */
  concurrency({ concurrency }: QueueLimits): number {
    return this.slow > 0 || this.isDegraded ? Math.min(slowConcurrency, concurrency) : concurrency;
  }

  /**
   * How many more leases this queue can use soon: free permits and, unless it is degraded, free places to wait. An endpoint
   * that hangs would otherwise fill the process's capacity again each time its circuit closes.
   */
  freeCapacity(limits: QueueLimits): number {
    const most = this.concurrency(limits) + (this.isDegraded ? 0 : limits.waiting);
    return Math.max(0, most - this.running - this.waiting.length);
  }

  /**
   * The free capacity for deliveries of new events: at most half of the queue while older deliveries of the webhook are
   * due, because new traffic would otherwise keep them waiting for ever.
   */
  freeCapacityForNew(limits: QueueLimits): number {
    const free = this.freeCapacity(limits);
    if (!this.hasDueRows) return free;
    const half = Math.floor((this.concurrency(limits) + limits.waiting) / 2);
    return Math.max(0, Math.min(free, half - this.running - this.waiting.length));
  }

  /**
   * How many more attempts of this queue its host takes now.
   *
   * A degraded queue shares a quarter of the recent permits with the other degraded ones of its host: its attempts
   * probably hold a permit for a whole second. Any other queue may have all of them while it is alone, and half while
   * another one waits.
   */
  freeHostPermits(recentLimit: number, now: number): number {
    const { host } = this;
    const free = recentLimit - host.recent;
    if (this.isDegraded) {
      return Math.min(free, Math.ceil(recentLimit / 4) - host.recentOfDegraded, host.freeSlowPermits);
    }
    if (this.waitsForSlow(now)) return 0;
    if (host.slow >= maxSlowPerHost) return Math.min(free, 1 - this.recentAtHost);
    const othersWait = host.waitingQueues > (this.#countsAsWaiting ? 1 : 0);
    return othersWait ? Math.min(free, Math.ceil(recentLimit / 2) - this.recentAtHost) : free;
  }

  /** Rows of this webhook are due in the ledger beyond what was leased here. */
  noteDueRows(now: number): void {
    this.#hasDueRows = true;
    this.#dueRowsNotedAt = now;
  }

  /**
   * A statement found no more of them.
   *
   * @param askedAt when it was sent. It may not have seen rows that were noted since: they would wait for dispatch's idle
   *   rhythm, while newer deliveries overtake them
   */
  noteNoneDue(askedAt: number): void {
    if (this.#dueRowsNotedAt < askedAt) this.#hasDueRows = false;
  }

  /** An attempt has become slow before it was answered. */
  noteSlow(now: number): void {
    this.#degradedSince = now;
    this.noteWaiting();
  }

  /** An attempt was answered within 1 s. */
  noteQuickAnswer(now: number): void {
    this.#answeredQuicklyAt = now;
    this.#degradedSince = never;
    this.noteWaiting();
  }

  /** Keeps the host's count of waiting queues, after leases came or went or the queue's state changed. */
  noteWaiting(): void {
    const counts = this.waiting.length > 0 && !this.isDegraded;
    if (counts === this.#countsAsWaiting) return;
    this.#countsAsWaiting = counts;
    this.host.waitingQueues += counts ? 1 : -1;
  }

  /** The webhook's URL has another host now, of which nothing is known. Leases no longer wait here. */
  moveTo(host: Host): void {
    this.host = host;
    this.recentAtHost = 0;
    this.#answeredQuicklyAt = never;
  }

  #hasAnsweredQuickly(now: number): boolean {
    return now - this.#answeredQuicklyAt <= rememberedMs;
  }
}

/**
 * One attempt, from its start to the last byte of its answer. The attempts of endpoint queues and hosts are counted here
 * and nowhere else.
 */
export class AttemptInFlight {
  readonly queue: EndpointQueue;
  readonly host: Host;
  readonly ofDegraded: boolean;
  readonly startedAt: number;
  /** When it began to connect, or its start: excludes the time queued inside the worker. */
  connectingAt: number;
  age: 'new' | 'recent' | 'slow' = 'new';
  isAnswered = false;

  constructor(queue: EndpointQueue, now: number) {
    this.queue = queue;
    this.host = queue.host;
    this.ofDegraded = queue.isDegraded;
    this.startedAt = now;
    this.connectingAt = now;
    queue.running += 1;
    queue.open += 1;
    queue.recentAtHost += 1;
    this.host.recent += 1;
    if (this.ofDegraded) this.host.recentOfDegraded += 1;
  }

  becomeSlow(): void {
    this.#leaveRecent();
    this.age = 'slow';
    this.host.slow += 1;
    if (!this.isAnswered) this.queue.slow += 1;
  }

  /** The status line and headers have come, or will not come. */
  answer(): void {
    this.isAnswered = true;
    this.queue.running -= 1;
    if (this.age === 'slow') this.queue.slow -= 1;
  }

  end(): void {
    this.queue.open -= 1;
    if (this.age === 'slow') this.host.slow -= 1;
    else this.#leaveRecent();
  }

  #leaveRecent(): void {
    const { queue, host } = this;
    host.recent -= 1;
    // A queue that has moved to another host since then counts from zero at the new host.
    if (queue.host === host && queue.recentAtHost > 0) queue.recentAtHost -= 1;
    if (this.ofDegraded) host.recentOfDegraded -= 1;
  }
}
