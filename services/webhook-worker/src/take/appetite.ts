import type { Taken } from './queries.ts';

/** Of this many events, the last ones, the fan-out is remembered. */
const remembered = 10;

/**
 * How many events this process has room for: its free places, divided by the deliveries that events have brought lately.
 * A delivery that is written without a place here is due for anybody, and is then written a second time to be leased: a
 * third of the database's work when every event goes to a hundred webhooks. Until there is room its event waits in the
 * outbox, where organizations take turns.
 */
export class Appetite {
  readonly #room: () => number;
  #fanOut = 1;
  /** Deliveries of the takes under way. */
  #expected = 0;

  constructor(room: () => number) {
    this.#room = room;
  }

  /** Events, none while there is no room. An event may bring more than there are places: one is always taken. */
  events(): number {
    const free = this.#room() - this.#expected;
    return free <= 0 ? 0 : Math.max(1, Math.floor(free / this.#fanOut));
  }

  /** Takes so many events; what they are expected to bring is no room for others meanwhile. */
  async satisfy(events: number, take: () => Promise<Taken>): Promise<Taken> {
    const expected = events * this.#fanOut;
    this.#expected += expected;
    try {
      const taken = await take();
      this.#learn(taken);
      return taken;
    } finally {
      this.#expected -= expected;
    }
  }

  #learn({ events, deliveries }: Taken): void {
    if (events === 0) return;
    const weight = Math.min(1, events / remembered);
    // Events that nobody subscribed to bring nothing: still no more than a batch of them.
    this.#fanOut = Math.max(0.1, this.#fanOut + weight * (deliveries / events - this.#fanOut));
  }
}
