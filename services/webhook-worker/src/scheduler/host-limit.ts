/**
 * Attempts under way per process to one host, over all webhooks of one organization. Whoever registers a stranger's
 * host a hundred times must not be able to make us flood it.
 */
export const attemptsPerHost = 20;

interface Host {
  running: number;
  /** Those of them that have waited more than 1 s for their answer. */
  slow: number;
}

/**
 * What the limit counts together: the organization, and the name or literal in the URL. Not the port, which one machine
 * has many of; and not the address, which large providers share among strangers.
 */
export function hostKeyOf(organizationId: string, url: string): string {
  return `${organizationId} ${URL.parse(url)?.hostname ?? ''}`;
}

/** Counts attempts by host; remembers only hosts that have some. */
export class HostLimit {
  private readonly hosts = new Map<string, Host>();
  private readonly places: number;

  constructor(places: number) {
    this.places = places;
  }

  isFull(hostKey: string): boolean {
    return this.freePermits(hostKey) <= 0;
  }

  /** How many more attempts to it may start. */
  freePermits(hostKey: string): number {
    return this.places - (this.hosts.get(hostKey)?.running ?? 0);
  }

  /** Full, and slow: what waits for a place there would wait in the place of others. */
  isSaturated(hostKey: string): boolean {
    const host = this.hosts.get(hostKey);
    return host !== undefined && host.running >= this.places && host.slow > 0;
  }

  enter(hostKey: string): void {
    const host = this.hosts.get(hostKey);
    if (host) host.running += 1;
    else this.hosts.set(hostKey, { running: 1, slow: 0 });
  }

  noteSlow(hostKey: string): void {
    const host = this.hosts.get(hostKey);
    if (host) host.slow += 1;
  }

  /** An attempt that had grown old was answered, or is over. */
  noteAnswered(hostKey: string): void {
    const host = this.hosts.get(hostKey);
    if (host) host.slow -= 1;
  }

  /** @returns whether somebody may have been waiting for the place */
  leave(hostKey: string): boolean {
    const host = this.hosts.get(hostKey);
    if (!host) return false;
    const wasFull = host.running >= this.places;
    host.running -= 1;
    if (host.running === 0) this.hosts.delete(hostKey);
    return wasFull;
  }
}
