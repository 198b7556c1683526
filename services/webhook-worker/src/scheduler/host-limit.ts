import { type EndpointQueue, hasAnsweredQuickly, isDegraded } from './endpoint-queues.ts';

/**
 * Attempts under way to one host for one organization, over all its webhooks. An organization that registers the
 * host of a stranger a hundred times must not make this process flood that host, and a webhook that hangs must not stop the organization's
 * other webhooks at the same host. So recent attempts (younger than 1 s) and slow ones count apart, and each webhook has
 * a share of the recent ones.
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

/** Recent attempts per host; more where a single webhook may have more (`WEBHOOK_ENDPOINT_CONCURRENCY`). */
const leastRecentPerHost = 20;
/**
 * Slow attempts per host. While there are so many, only webhooks that have answered quickly within the last 5 minutes
 * start, one attempt at a time each. A webhook of which nothing is known waits, because the host may hang for every
 * webhook of the organization.
 */
const maxSlowPerHost = 100;

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
 * How many more attempts of this endpoint queue its host takes now.
 *
 * A degraded queue shares a quarter of the recent permits with the other degraded ones of its host: its attempts
 * probably hold a permit for a whole second. Any other queue may have all of them while it is alone, and half while
 * another one waits.
 */
export function freeHostPermits(queue: EndpointQueue, recentLimit: number, now: number): number {
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
export function waitsForSlow(queue: EndpointQueue, now: number): boolean {
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
