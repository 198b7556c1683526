/** How much a take changes what is expected of the next one, at most; one of so many events does. */
const greatestWeight = 0.3;
const eventsOfWeight = 30;

/**
 * How many events this process has room for: its free places, divided by the places that events have wanted lately.
 * A delivery that is written without a place here is due for anybody, and is then written a second time to be leased: a
 * third of the database's work when every event goes to a hundred webhooks. Until there is room its event waits in the
 * outbox, where organizations take turns.
 *
 * Takes under way are not counted as taken: some go over the room, none waits for another that hangs.
 */
export class Appetite {
  readonly #room: () => number;
  #placesPerEvent = 1;

  constructor(room: () => number) {
    this.#room = room;
  }

  /** Events, none while there is no room. An event may want more places than there are: one is always taken. */
  events(): number {
    const room = this.#room();
    return room < 1 ? 0 : Math.max(1, Math.floor(room / this.#placesPerEvent));
  }

  /** @param places that these events wanted: deliveries leased, or due at once for want of room */
  learn(events: number, places: number): void {
    if (events === 0) return;
    const weight = Math.min(greatestWeight, events / eventsOfWeight);
    // Events that nobody subscribed to want nothing: still no more than a batch of them.
    this.#placesPerEvent = Math.max(0.1, this.#placesPerEvent + weight * (places / events - this.#placesPerEvent));
  }
}
