import type { Lease } from '../leases/lease.ts';

/** The leases of one webhook in this process: how many run, which wait, and how the endpoint has been behaving. */
export interface EndpointQueue {
  readonly webhookId: string;
  /** Where its leases go. */
  host: Host;
  waiting: Lease[];
  /** Attempts that have not been answered. */
  running: number;
  /** Those of them that are older than 1 s. */
  slow: number;
  /** Attempts that have not ended: answered ones are read to their last byte. */
  open: number;
  /** Those of them that are younger than 1 s. */
  recentAtHost: number;
  /** Whether the host counts it among the queues that wait. */
  countsAsWaiting: boolean;
  lastTimeoutAt: number;
  /** When an attempt last became slow, until a later one is answered within 1 s. */
  degradedSince: number;
  /** When an attempt was last answered within 1 s. */
  answeredQuicklyAt: number;
  /** Rows of this webhook are due in the ledger beyond what was leased here. */
  hasDueRows: boolean;
}

/**
 * Attempts under way to one host for one organization, over all its webhooks. An organization that registers the host of
 * a stranger a hundred times must not make this process flood that host, and a webhook that hangs must not stop the
 * organization's other webhooks at the same host. So recent attempts (younger than 1 s) and slow ones count apart, and
 * each webhook has a share of the recent ones.
 */
export interface Host {
  readonly key: string;
  /** Attempts younger than 1 s, until the last byte of the answer. */
  recent: number;
  /** Those of them that a degraded endpoint queue started. */
  recentOfDegraded: number;
  /** Attempts older than 1 s, until the last byte of the answer. */
  slow: number;
  /** Endpoint queues of this host that are not degraded and have leases waiting. */
  waitingQueues: number;
  /** Endpoint queues of this host. */
  queues: number;
}

/** How long a timeout or a slow attempt counts against an endpoint, and a quick answer in its favour. */
const rememberedMs = 5 * 60_000;
const nothing: Lease[] = [];

/** All endpoint queues of this process, their hosts, and the order in which waiting leases are served. */
export class EndpointQueues {
  readonly #queues = new Map<string, EndpointQueue>();
  readonly #hosts = new Map<string, Host>();
  /** Queues with leases waiting, in the order in which they are served: one start each, round and round. */
  readonly #ready = new Set<EndpointQueue>();
  #waiting = 0;

  get size(): number {
    return this.#queues.size;
  }

  /** Leases waiting over all queues. */
  get waiting(): number {
    return this.#waiting;
  }

  all(): Iterable<EndpointQueue> {
    return this.#queues.values();
  }

  /** Queues with leases waiting. A queue that is served during the iteration comes again at its end. */
  ready(): Iterable<EndpointQueue> {
    return this.#ready;
  }

  find(webhookId: string): EndpointQueue | undefined {
    return this.#queues.get(webhookId);
  }

  findOrCreate(webhookId: string): EndpointQueue {
    let queue = this.#queues.get(webhookId);
    if (queue === undefined) {
      queue = createEndpointQueue(webhookId, this.#findOrCreateHost(''));
      this.#queues.set(webhookId, queue);
    }
    return queue;
  }

  add(queue: EndpointQueue, lease: Lease): void {
    queue.waiting.push(lease);
    this.#waiting += 1;
    this.#ready.add(queue);
    this.noteWaiting(queue);
  }

  /** Removes the first waiting lease. The queue is served again after all others. */
  serve(queue: EndpointQueue): void {
    this.#ready.delete(queue);
    if (queue.waiting.shift() !== undefined) this.#waiting -= 1;
    if (queue.waiting.length > 0) this.#ready.add(queue);
    else this.noteWaiting(queue);
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
    this.noteWaiting(queue);
    return removed;
  }

  /** The webhook's URL has another host now. @returns the leases that waited for the former host */
  moveToHost(queue: EndpointQueue, hostKey: string): Lease[] {
    const removed = this.remove(queue);
    const former = queue.host;
    former.queues -= 1;
    this.forgetHostIfUnused(former);
    queue.host = this.#findOrCreateHost(hostKey);
    queue.recentAtHost = 0;
    queue.answeredQuicklyAt = Number.NEGATIVE_INFINITY;
    return removed;
  }

  /** Keeps the host's count of waiting queues, after leases came or went or the queue's state changed. */
  noteWaiting(queue: EndpointQueue): void {
    const counts = queue.waiting.length > 0 && !isDegraded(queue);
    if (counts === queue.countsAsWaiting) return;
    queue.countsAsWaiting = counts;
    queue.host.waitingQueues += counts ? 1 : -1;
  }

  /** Degraded queues share few permits of their host; the one that started last is offered them last. */
  putLast(queue: EndpointQueue): void {
    this.#queues.delete(queue.webhookId);
    this.#queues.set(queue.webhookId, queue);
  }

  /**
   * Forgets a queue that does nothing and remembers no trouble. A quick answer is remembered while attempts of its host
   * are slow: beside many slow ones it decides whether the webhook may start.
   */
  forgetIfIdle(queue: EndpointQueue, now: number): void {
    if (queue.open > 0 || queue.waiting.length > 0 || queue.hasDueRows) return;
    if (now - Math.max(queue.lastTimeoutAt, queue.degradedSince) < rememberedMs) return;
    if (queue.host.slow > 0 && hasAnsweredQuickly(queue, now)) return;
    if (!this.#queues.delete(queue.webhookId)) return;
    queue.host.queues -= 1;
    this.forgetHostIfUnused(queue.host);
  }

  forgetHostIfUnused(host: Host): void {
    if (host.queues === 0 && host.recent === 0 && host.slow === 0) this.#hosts.delete(host.key);
  }

  #findOrCreateHost(key: string): Host {
    let host = this.#hosts.get(key);
    if (host === undefined) {
      host = { key, recent: 0, recentOfDegraded: 0, slow: 0, waitingQueues: 0, queues: 0 };
      this.#hosts.set(key, host);
    }
    host.queues += 1;
    return host;
  }
}

/** Whether an attempt has become slow and none has been answered within 1 s since. */
export function isDegraded(queue: EndpointQueue): boolean {
  return queue.degradedSince !== Number.NEGATIVE_INFINITY;
}

/** Whether an attempt is slow now, or one timed out within the last 5 minutes. */
export function isTroubled(queue: EndpointQueue, now: number): boolean {
  return queue.slow > 0 || now - queue.lastTimeoutAt <= rememberedMs;
}

/** Whether an attempt was answered within 1 s during the last 5 minutes. */
export function hasAnsweredQuickly(queue: EndpointQueue, now: number): boolean {
  return now - queue.answeredQuicklyAt <= rememberedMs;
}

/**
 * The organization and the host name or address literal in the URL. The port is left out: one machine has many ports,
 * and the limit protects machines. The resolved address is left out as well: large providers share one among strangers.
 */
export function hostKeyOf(organizationId: string, url: string): string {
  return `${organizationId} ${URL.parse(url)?.hostname ?? ''}`;
}

function createEndpointQueue(webhookId: string, host: Host): EndpointQueue {
  return {
    webhookId,
    host,
    waiting: [],
    running: 0,
    slow: 0,
    open: 0,
    recentAtHost: 0,
    countsAsWaiting: false,
    lastTimeoutAt: Number.NEGATIVE_INFINITY,
    degradedSince: Number.NEGATIVE_INFINITY,
    answeredQuicklyAt: Number.NEGATIVE_INFINITY,
    hasDueRows: false,
  };
}
