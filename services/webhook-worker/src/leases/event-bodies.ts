import type { Lease } from './lease.ts';

/** What attempts need of an event. Its bytes are in memory once for all its deliveries. */
export type HeldEvent = Pick<Lease, 'body' | 'requestId' | 'traceparent'>;

type LeaseOfEvent = Pick<Lease, 'eventId' | 'organizationId'>;

/**
 * The bodies that the leases of this process hold, each once per event, and how much memory that is: the body, and as much
 * again for each lease. TLS encrypts a whole request at once, and keeps what its receiver has not read.
 *
 * While they take more than the budget, organizations above their share of it (an equal part for each that has any) get no
 * further leases here: an organization whose endpoints hang with large events would otherwise fill the memory of a process
 * that counts leases only. At least one of them is above its share then, and the others go on.
 */
export class EventBodies {
  readonly #budgetBytes: number;
  readonly #held = new Map<string, { content: HeldEvent; leases: Set<object> }>();
  readonly #bytesOf = new Map<string, number>();
  /** Bytes of all bodies that are held, and of their encrypted copies. */
  bytes = 0;

  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes;
  }

  /** The content of an event that a lease of this process holds already. */
  find(eventId: string): HeldEvent | undefined {
    return this.#held.get(eventId)?.content;
  }

  /** Counts a lease with the content of its event, until {@link drop}. */
  hold(lease: LeaseOfEvent, content: HeldEvent): void {
    const held = this.#held.get(lease.eventId) ?? { content, leases: new Set() };
    this.#held.set(lease.eventId, held);
    this.#count(lease, (held.leases.size === 0 ? 2 : 1) * held.content.body.length);
    held.leases.add(lease);
  }

  /** The lease is over. A second time this does nothing. */
  drop(lease: LeaseOfEvent): void {
    const held = this.#held.get(lease.eventId);
    if (held === undefined || !held.leases.delete(lease)) return;
    if (held.leases.size === 0) this.#held.delete(lease.eventId);
    this.#count(lease, (held.leases.size === 0 ? -2 : -1) * held.content.body.length);
  }

  /** Whether nothing more may be loaded for an organization. */
  isAboveShare(organizationId: string): boolean {
    if (this.bytes <= this.#budgetBytes) return false;
    return (this.#bytesOf.get(organizationId) ?? 0) > this.#budgetBytes / this.#bytesOf.size;
  }

  /** Organizations for which nothing more may be loaded. */
  organizationsAboveShare(): string[] {
    return [...this.#bytesOf.keys()].filter((id) => this.isAboveShare(id));
  }

  #count({ organizationId }: LeaseOfEvent, bytes: number): void {
    this.bytes += bytes;
    const left = (this.#bytesOf.get(organizationId) ?? 0) + bytes;
    if (left === 0) this.#bytesOf.delete(organizationId);
    else this.#bytesOf.set(organizationId, left);
  }
}
