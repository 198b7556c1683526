import type { EventType } from '@enterprise-api/shared/contracts';
import { BoundedMap, type Uuid } from '@enterprise-api/shared/runtime';

/** The position of an event in the order of all events. */
export interface Place {
  position: number;
  id: Uuid;
}

export interface FeedEvent extends Place {
  type: EventType;
  body: string;
}

/** Events after a position, up to the horizon. */
export interface FeedPage {
  events: readonly FeedEvent[];
  /** Whether an open transaction delays newer events. */
  isBehind: boolean;
}

export interface FeedOptions {
  read: (after: Place) => Promise<FeedPage>;
  onError: (error: unknown) => void;
}

/** Number of cached pages, for streams that read slightly later than the first. */
const keptPages = 4;
/** For this long, a cached page may still contain an event that was erased meanwhile. */
export const pageLastsMs = 2_000;
const lookAgainAfterMs = { least: 50, most: 1_600 };

interface KeptPage {
  readAt: number;
  wakes: number;
  page: Promise<FeedPage>;
  isFinal: boolean;
}

/**
 * Reads the events of one organization for all its streams. Streams at the same position share a query. No event can be
 * added before the end of a page with events, but an erasure may remove one. Such a page is therefore valid for two
 * seconds. An empty page is valid until the next wake-up.
 */
export class OrganizationFeed {
  readonly #options: FeedOptions;
  readonly #pages = new BoundedMap<string, KeptPage>(keptPages);
  readonly #waiting = new Set<{ place: Place; wake: () => void }>();
  #wakes = 0;
  #lookAgainMs = lookAgainAfterMs.least;
  #lookAgain: NodeJS.Timeout | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Waits for the events after a position. Returns an empty list once the signal has aborted. */
  async next(after: Place, ended: AbortSignal): Promise<readonly FeedEvent[]> {
    while (!ended.aborted) {
      const wakes = this.#wakes;
      const { events } = await this.#page(after, wakes);
      if (events.length > 0) return events;
      await this.#woken(after, wakes, ended);
    }
    return [];
  }

  /** Call when newer events may exist: waiting streams then read again. */
  wake(): void {
    this.#wakes += 1;
    for (const { wake } of this.#waiting) wake();
  }

  /** The lowest position at which a stream waits; undefined if no stream waits. */
  waitsBehind(): Place | undefined {
    let lowest: Place | undefined;
    for (const { place } of this.#waiting) {
      if (lowest === undefined || place.position < lowest.position) lowest = place;
    }
    return lowest;
  }

  close(): void {
    clearTimeout(this.#lookAgain);
  }

  #page(after: Place, wakes: number): Promise<FeedPage> {
    const name = `${after.position} ${after.id}`;
    const known = this.#pages.get(name);
    const isValid = known?.isFinal ? performance.now() - known.readAt < pageLastsMs : known?.wakes === wakes;
    if (known !== undefined && isValid) return known.page;
    const asked: KeptPage = { readAt: performance.now(), wakes, page: this.#read(after), isFinal: false };
    this.#pages.set(name, asked);
    void asked.page.then(({ events }) => {
      asked.isFinal = events.length > 0;
    });
    return asked.page;
  }

  /** Returns an empty page while the database is unavailable. The next wake-up reads again. */
  async #read(after: Place): Promise<FeedPage> {
    try {
      const page = await this.#options.read(after);
      if (page.events.length > 0) this.#lookAgainMs = lookAgainAfterMs.least;
      else if (page.isBehind) this.#lookAgainSoon();
      return page;
    } catch (error) {
      this.#options.onError(error);
      return { events: [], isBehind: false };
    }
  }

  #lookAgainSoon(): void {
    if (this.#lookAgain !== undefined || this.#lookAgainMs > lookAgainAfterMs.most) return;
    this.#lookAgain = setTimeout(() => {
      this.#lookAgain = undefined;
      this.wake();
    }, this.#lookAgainMs).unref();
    this.#lookAgainMs *= 2;
  }

  #woken(place: Place, wakes: number, ended: AbortSignal): Promise<void> {
    if (this.#wakes > wakes || ended.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(waiting);
        ended.removeEventListener('abort', wake);
        resolve();
      };
      const waiting = { place, wake };
      this.#waiting.add(waiting);
      ended.addEventListener('abort', wake, { once: true });
    });
  }
}
