import type { Change } from '@enterprise-api/shared/ledger';
import { BoundedMap, type Clock, type Uuid } from '@enterprise-api/shared/runtime';

/** The least time between two messages about one organization. A follower reads all new events at each. */
const everyMs = 50;
/** Processes with streams say so at least every 2 s. */
const followedForMs = 5_000;
const maxFollowed = 100_000;

/**
 * Tells processes with streams of an organization that it has new events. The first message is sent at once, later ones
 * are gathered. Messages are sent in the background, and only for organizations that have a stream.
 */
export class EventNotifier {
  readonly #clock: Clock;
  readonly #followedUntil = new BoundedMap<Uuid, number>(maxFollowed);
  readonly #recent = new Map<Uuid, { again: boolean }>();
  #publish: (change: Change) => Promise<void> = async () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Before this call, nothing is told. */
  connect(publish: (change: Change) => Promise<void>): void {
    this.#publish = publish;
  }

  /** This process has streams of the organization: all processes tell of its events for the next seconds. */
  announce(organizationId: Uuid): void {
    void this.#publish({ kind: 'followed', id: organizationId });
  }

  onChange({ kind, id }: Change): void {
    if (kind === 'followed') this.#followedUntil.set(id, this.#clock.monotonic() + followedForMs);
  }

  /** The organization has new events. */
  emitted(organizationId: Uuid): void {
    const followedUntil = this.#followedUntil.get(organizationId);
    if (followedUntil === undefined || followedUntil < this.#clock.monotonic()) return;
    const state = this.#recent.get(organizationId);
    if (state === undefined) this.#tell(organizationId);
    else state.again = true;
  }

  #tell(id: Uuid): void {
    const state = { again: false };
    this.#recent.set(id, state);
    void this.#publish({ kind: 'events', id });
    setTimeout(() => (state.again ? this.#tell(id) : this.#recent.delete(id)), everyMs).unref();
  }
}
