import type { Change } from '@enterprise-api/shared/ledger';
import { BoundedMap, type Clock, type Uuid } from '@enterprise-api/shared/runtime';

/**
 * Minimum interval between two messages about one organization. On each message, a process with streams reads all new
 * events.
 */
const everyMs = 50;
/** Processes announce the organizations of their streams at least every 2 s. */
const followedForMs = 5_000;
const maxFollowed = 100_000;

/**
 * Notifies processes with streams of an organization about its new events. Sends the first message at once and groups
 * later ones. Messages are sent in the background, and only for organizations with a stream.
 */
export class EventNotifier {
  readonly #clock: Clock;
  /** Monotonic time until which an organization may have streams. Events of other organizations need no message. */
  readonly followedUntil = new BoundedMap<Uuid, number>(maxFollowed);
  readonly #recent = new Map<Uuid, { again: boolean }>();
  #publish: (change: Change) => Promise<void> = async () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  connect(publish: (change: Change) => Promise<void>): void {
    this.#publish = publish;
  }

  /**
   * Announces that this process has streams of the organization. For the next seconds, all processes notify about its
   * events.
   */
  announce(organizationId: Uuid): void {
    void this.#publish({ kind: 'followed', id: organizationId });
  }

  onChange({ kind, id }: Change): void {
    if (kind === 'followed') this.followedUntil.set(id, this.#clock.monotonic() + followedForMs);
  }

  emitted(organizationId: Uuid): void {
    if ((this.followedUntil.get(organizationId) ?? Number.NEGATIVE_INFINITY) < this.#clock.monotonic()) {
      this.followedUntil.delete(organizationId);
      return;
    }
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
