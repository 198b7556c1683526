import type { Lease } from './lease.ts';

/** The content of an event. Its bytes are in memory once for all deliveries of the event. */
export type HeldEvent = Pick<Lease, 'body' | 'requestId' | 'traceparent'>;

type LeaseOfEvent = Pick<Lease, 'eventId' | 'organizationId'>;

/**
 * Holds the bodies of this process's leases, once per event, and counts their memory: the size of the body, and the
 * same size again for each lease. TLS needs the latter: it encrypts a whole request and buffers it until the receiver
 * has read it.
 *
 * Organizations with bodies here have equal parts of the budget. While all bodies together exceed the budget, an
 * organization above its part gets no further leases in this process. Otherwise an organization whose endpoints hang
 * with large events would fill the memory, because the scheduler counts only leases. While the budget is exceeded, at
 * least one organization is above its part. Organizations below their parts still get leases.
 */
export class EventBodies {
  readonly #budgetBytes: number;
  readonly #held = new Map<string, { content: HeldEvent; leases: Set<object> }>();
  readonly #bytesOf = new Map<string, number>();
  /** Bytes of all held bodies and of their encrypted copies. */
  bytes = 0;

  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes;
  }

  find(eventId: string): HeldEvent | undefined {
    return this.#held.get(eventId)?.content;
  }

  hold(lease: LeaseOfEvent, content: HeldEvent): void {
    const held = this.#held.get(lease.eventId) ?? { content, leases: new Set() };
    this.#held.set(lease.eventId, held);
    this.#count(lease, (held.leases.size === 0 ? 2 : 1) * held.content.body.length);
    held.leases.add(lease);
  }

  /** Stops counting a lease, and drops the body with the event's last lease. A second call does nothing. */
  drop(lease: LeaseOfEvent): void {
    const held = this.#held.get(lease.eventId);
    if (held === undefined || !held.leases.delete(lease)) return;
    if (held.leases.size === 0) this.#held.delete(lease.eventId);
    this.#count(lease, (held.leases.size === 0 ? -2 : -1) * held.content.body.length);
  }

  isAboveShare(organizationId: string): boolean {
    if (this.bytes <= this.#budgetBytes) return false;
    return (this.#bytesOf.get(organizationId) ?? 0) > this.#budgetBytes / this.#bytesOf.size;
  }

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
