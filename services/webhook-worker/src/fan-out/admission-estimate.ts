/** How much one fan-out changes the estimate: at most this much, by a fan-out of so many events. */
const maxWeight = 0.3;
const eventsOfFullWeight = 30;
const maxEventsPerUnit = 10;

/**
 * Estimates how many events this process has capacity for: its free capacity, divided by the deliveries that events have
 * had lately. A delivery that is written without capacity here is due for any process, and is written a second time to be
 * leased: a third of the database's work when every event goes to a hundred webhooks. So its event waits in the outbox
 * until there is capacity, where organizations are served in turn.
 *
 * Fan-outs under way are not subtracted: some exceed the capacity a little, and none waits for another that hangs.
 */
export class AdmissionEstimate {
  readonly #freeCapacity: () => number;
  #deliveriesPerEvent = 1;

  constructor(freeCapacity: () => number) {
    this.#freeCapacity = freeCapacity;
  }

  /** Events to fan out now: none without capacity, else at least one, for an event may have more deliveries than that. */
  events(): number {
    const free = this.#freeCapacity();
    return free < 1 ? 0 : Math.max(1, Math.floor(free / this.#deliveriesPerEvent));
  }

  /** @param admitted deliveries of these events that use capacity: leased, or due now because there was none */
  learn(events: number, admitted: number): void {
    if (events === 0) return;
    const weight = Math.min(maxWeight, events / eventsOfFullWeight);
    const estimate = this.#deliveriesPerEvent + weight * (admitted / events - this.#deliveriesPerEvent);
    // Events without a subscriber use nothing; the bound keeps one batch from emptying the whole outbox.
    this.#deliveriesPerEvent = Math.max(1 / maxEventsPerUnit, estimate);
  }
}
