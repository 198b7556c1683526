import type { Lease } from './lease.ts';

/** What attempts need of an event, in memory once for all its deliveries. */
export interface HeldEvent {
  /** Encoded: exactly the bytes that every attempt sends. */
  body: Buffer;
  /** Of the API request that emitted the event, if one did. */
  requestId: string | null;
  /** The trace that its attempts continue, where that is asked for and the event has one. */
  traceparent: string | null;
}

type LeaseOfEvent = Pick<Lease, 'eventId' | 'organizationId'>;

interface HeldBody {
  eventId: string;
  organizationId: string;
  content: HeldEvent;
  leases: number;
}

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
  readonly #held = new Map<string, HeldBody>();
  readonly #bodyOf = new WeakMap<object, HeldBody>();
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes;
  }

  /** Bytes of all bodies that are held, and of their encrypted copies. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The content of an event that a lease of this process holds already. */
  find(eventId: string): HeldEvent | undefined {
    return this.#held.get(eventId)?.content;
  }

  /** Counts a lease with the content of its event, until {@link drop}. */
  hold(lease: LeaseOfEvent, content: HeldEvent): void {
    let held = this.#held.get(lease.eventId);
    if (held === undefined) {
      const { eventId, organizationId } = lease;
      held = { eventId, organizationId, content, leases: 0 };
      this.#held.set(lease.eventId, held);
      this.#count(held, content.body.length);
    }
    held.leases += 1;
    this.#count(held, held.content.body.length);
    this.#bodyOf.set(lease, held);
  }

  /** The lease is over. A second time, or for a lease without a body, this does nothing. */
  drop(lease: object): void {
    const held = this.#bodyOf.get(lease);
    if (held === undefined) return;
    this.#bodyOf.delete(lease);
    held.leases -= 1;
    this.#count(held, -held.content.body.length);
    if (held.leases > 0) return;
    this.#held.delete(held.eventId);
    this.#count(held, -held.content.body.length);
  }

  /** Whether nothing more may be loaded for an organization. */
  isAboveShare(organizationId: string): boolean {
    if (this.#bytes <= this.#budgetBytes) return false;
    return (this.#bytesOf.get(organizationId) ?? 0) > this.#budgetBytes / this.#bytesOf.size;
  }

  /** Organizations for which nothing more may be loaded. */
  organizationsAboveShare(): string[] {
    if (this.#bytes <= this.#budgetBytes) return [];
    return [...this.#bytesOf.keys()].filter((id) => this.isAboveShare(id));
  }

  #count({ organizationId }: HeldBody, bytes: number): void {
    this.#bytes += bytes;
    const left = (this.#bytesOf.get(organizationId) ?? 0) + bytes;
    if (left === 0) this.#bytesOf.delete(organizationId);
    else this.#bytesOf.set(organizationId, left);
  }
}
