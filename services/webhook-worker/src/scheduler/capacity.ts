import {
  type EndpointQueue,
  type EndpointQueues,
  type Host,
  hasAnsweredQuickly,
  isDegraded,
  isTroubled,
} from './endpoint-queues.ts';
import type { InFlight } from './in-flight.ts';

/** Limits of each endpoint queue. */
export interface QueueLimits {
  /** In flight per webhook. */
  concurrency: number;
  /** Waiting per webhook, unless it is degraded. */
  waiting: number;
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
}

/** Attempts in flight of a slow or degraded endpoint: enough to notice its recovery, too few to hurt it. */
const slowConcurrency = 5;
/** While the process has so many slow attempts, troubled webhooks start none. */
const maxSlowAttempts = 1_000;
/** Leases that may wait per permit. */
const waitingPerPermit = 2;
/** Recent attempts per host; more where a single webhook may have more (`WEBHOOK_ENDPOINT_CONCURRENCY`). */
const leastRecentPerHost = 20;
/**
 * Slow attempts per host. While there are so many, only webhooks that have answered quickly within the last 5 minutes
 * start, one attempt at a time each. A webhook of which nothing is known waits, because the host may hang for every
 * webhook of the organization.
 */
const maxSlowPerHost = 100;

export interface AdmissionSettings {
  /** Attempts that may start at once in the whole process. */
  permits: number;
  limits: QueueLimits;
  /** Attempts younger than 1 s to one host, over all webhooks of one organization. */
  recentPerHost: number;
}

/** Reads what this process may start and what it may lease. Changes nothing. */
export class Admission {
  readonly #queues: EndpointQueues;
  readonly #inFlight: InFlight;
  readonly #settings: AdmissionSettings;
  readonly #withoutWaiting: QueueLimits;

  constructor(queues: EndpointQueues, inFlight: InFlight, settings: AdmissionSettings) {
    this.#queues = queues;
    this.#inFlight = inFlight;
    this.#settings = settings;
    this.#withoutWaiting = { ...settings.limits, waiting: 0 };
  }

  /** Attempts that may start at once, as of the last ageing. */
  get freePermits(): number {
    return this.#inFlight.freePermits(this.#settings.permits);
  }

  /** Fewer leases wait than attempts may run. */
  get isShort(): boolean {
    return this.#queues.waiting < this.#settings.permits;
  }

  isEligible(queue: EndpointQueue, now: number): boolean {
    const { limits, recentPerHost } = this.#settings;
    if (queue.running >= concurrencyOf(queue, limits) || !this.#mayStart(queue, now)) return false;
    return freeHostPermits(queue, recentPerHost, now) > 0;
  }

  /**
   * Whether a queue could use many more leases. With many backlogs each queue is short: asking for a few rows at every
   * answer would keep the ledger walking. A process with few free places asks for what can start at once.
   */
  isHalfEmpty(queue: EndpointQueue): boolean {
    const { limits } = this.#settings;
    if (this.isShort) return freeCapacity(queue, limits) * 2 >= limits.waiting;
    return freeCapacity(queue, this.#withoutWaiting) * 2 >= limits.concurrency && this.freePermits > 0;
  }

  /**
   * How many new deliveries this process could use. None while more leases wait than attempts may run, so that deliveries
   * come in batches. Unlimited while permits are free although many leases wait: these wait for their own endpoints, which
   * is no reason to keep the deliveries of other webhooks waiting.
   */
  freeCapacity(): number {
    if (this.#queues.waiting <= this.#settings.permits) return this.#freePlaces;
    return this.freePermits > 0 ? Number.POSITIVE_INFINITY : 0;
  }

  /**
   * The capacity for deliveries of `new` events or for `due` rows.
   *
   * When fewer leases may wait than attempts may start, those that wait do so for their own endpoints: other webhooks
   * are then offered what can start at once. The permits that a host has for degraded queues are offered only once,
   * because leases that wait for one would use up capacity of this process.
   */
  capacity(kind: 'new' | 'due', now: number): Capacity {
    const freePlaces = this.#freePlaces;
    const isAtOnce = freePlaces < this.freePermits;
    const limits = isAtOnce ? this.#withoutWaiting : this.#settings.limits;
    const capacityOf = kind === 'new' ? freeCapacityForNew : freeCapacity;
    const offeredToDegraded = new Map<Host, number>();
    const [webhookIds, free, busy]: [string[], number[], number[]] = [[], [], []];
    for (const queue of this.#queues.all()) {
      let most = this.#mayStart(queue, now) ? capacityOf(queue, limits) : 0;
      if (most > 0 && (isAtOnce || isDegraded(queue) || waitsForSlow(queue, now))) {
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
    return Math.max(0, waitingPerPermit * this.#settings.permits - this.#queues.waiting);
  }

  #mayStart(queue: EndpointQueue, now: number): boolean {
    return this.#inFlight.slow < maxSlowAttempts || !isTroubled(queue, now);
  }

  #limitByHost(queue: EndpointQueue, wanted: number, offeredToDegraded: Map<Host, number>, now: number): number {
    const ofHost = freeHostPermits(queue, this.#settings.recentPerHost, now);
    if (!isDegraded(queue)) return Math.max(0, Math.min(wanted, ofHost));
    const before = offeredToDegraded.get(queue.host) ?? 0;
    const offered = Math.max(0, Math.min(wanted, ofHost - before));
    offeredToDegraded.set(queue.host, before + offered);
    return offered;
  }
}

/** Attempts that may run at the same time. */
function concurrencyOf(queue: EndpointQueue, { concurrency }: QueueLimits): number {
  return queue.slow > 0 || isDegraded(queue) ? Math.min(slowConcurrency, concurrency) : concurrency;
}

/**
 * How many more leases this queue can use soon: free permits and, unless it is degraded, free places to wait. An endpoint
 * that hangs would otherwise fill the process's capacity again each time its circuit closes.
 */
function freeCapacity(queue: EndpointQueue, limits: QueueLimits): number {
  const most = concurrencyOf(queue, limits) + (isDegraded(queue) ? 0 : limits.waiting);
  return Math.max(0, most - queue.running - queue.waiting.length);
}

/**
 * The free capacity for deliveries of new events: at most half of the queue while older deliveries of the webhook are
 * due, because new traffic would otherwise keep them waiting for ever.
 */
function freeCapacityForNew(queue: EndpointQueue, limits: QueueLimits): number {
  const free = freeCapacity(queue, limits);
  if (!queue.hasDueRows) return free;
  const half = Math.floor((concurrencyOf(queue, limits) + limits.waiting) / 2);
  return Math.max(0, Math.min(free, half - queue.running - queue.waiting.length));
}

/** How many attempts to one host may be younger than 1 s. */
export function recentLimitPerHost(endpointConcurrency: number): number {
  return Math.max(leastRecentPerHost, endpointConcurrency);
}

/**
 * How many more attempts of this endpoint queue its host takes now.
 *
 * A degraded queue shares a quarter of the recent permits with the other degraded ones of its host: its attempts
 * probably hold a permit for a whole second. Any other queue may have all of them while it is alone, and half while
 * another one waits.
 */
function freeHostPermits(queue: EndpointQueue, recentLimit: number, now: number): number {
  const { host } = queue;
  const free = recentLimit - host.recent;
  if (isDegraded(queue)) {
    return Math.min(free, Math.ceil(recentLimit / 4) - host.recentOfDegraded, freeSlowPermits(host));
  }
  if (waitsForSlow(queue, now)) return 0;
  if (host.slow >= maxSlowPerHost) return Math.min(free, 1 - queue.recentAtHost);
  const othersWait = host.waitingQueues > (queue.countsAsWaiting ? 1 : 0);
  return othersWait ? Math.min(free, Math.ceil(recentLimit / 2) - queue.recentAtHost) : free;
}

/** Whether a queue that is not degraded starts nothing until a slow attempt of its host has ended. */
function waitsForSlow(queue: EndpointQueue, now: number): boolean {
  return queue.host.slow >= maxSlowPerHost && !hasAnsweredQuickly(queue, now);
}

/** Whether a queue's leases would wait for slow attempts to end. Its host has no permit for them before that. */
export function isSaturated(queue: EndpointQueue): boolean {
  return isDegraded(queue) && freeSlowPermits(queue.host) <= 0;
}

/** A recent attempt of a degraded queue counts as slow from its start: it will most likely become so. */
function freeSlowPermits(host: Host): number {
  return maxSlowPerHost - host.slow - host.recentOfDegraded;
}
