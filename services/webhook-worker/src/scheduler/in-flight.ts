import type { EndpointQueue, Host } from './endpoint-queues.ts';

/** One attempt, from its start to the last byte of its answer. */
export interface AttemptInFlight {
  readonly queue: EndpointQueue;
  readonly host: Host;
  readonly ofDegraded: boolean;
  readonly startedAt: number;
  /** When it began to connect, or its start: excludes the time queued inside the worker. */
  connectingAt: number;
  age: 'new' | 'recent' | 'slow';
  isAnswered: boolean;
}

/** An attempt that is older than this is slow and no longer counts against the permits of its process and host. */
export const slowAfterMs = 1_000;
/** A process's permit is free again after this time, so that attempts of 1 s do not hold up all others. */
const permitHeldMs = 100;

/**
 * The registry of the attempts under way in this process. The counts of endpoint queues and hosts are written here and
 * nowhere else.
 *
 * Attempts start in the order of time, so each set is in the order of age, and ageing moves the head of one set to the
 * next: no timers, and no scan over a thousand requests that hang.
 */
export class InFlight {
  readonly #new = new Set<AttemptInFlight>();
  readonly #recent = new Set<AttemptInFlight>();
  readonly #slow = new Set<AttemptInFlight>();
  readonly #onSlow: (queue: EndpointQueue) => void;
  #unanswered = 0;
  #unansweredNew = 0;
  #unansweredSlow = 0;
  #allEnded: PromiseWithResolvers<void> | undefined;

  /** @param onSlow called for each attempt that becomes slow before it is answered */
  constructor(onSlow: (queue: EndpointQueue) => void) {
    this.#onSlow = onSlow;
  }

  /** Attempts without an answer. */
  get unanswered(): number {
    return this.#unanswered;
  }

  /** Those of them that are older than 1 s. */
  get slow(): number {
    return this.#unansweredSlow;
  }

  /** How many more may start, as of the last ageing: no more than `permits` are younger than 100 ms. */
  freePermits(permits: number): number {
    return Math.max(0, permits - this.#unansweredNew);
  }

  start(queue: EndpointQueue, ofDegraded: boolean, now: number): AttemptInFlight {
    const { host } = queue;
    const attempt = {
      queue,
      host,
      ofDegraded,
      startedAt: now,
      connectingAt: now,
      age: 'new',
      isAnswered: false,
    } as const;
    this.#new.add(attempt);
    this.#unanswered += 1;
    this.#unansweredNew += 1;
    queue.running += 1;
    queue.open += 1;
    queue.recentAtHost += 1;
    host.recent += 1;
    if (ofDegraded) host.recentOfDegraded += 1;
    return attempt;
  }

  /** Moves attempts to the set of their age. */
  age(now: number): void {
    for (const attempt of this.#new) {
      if (now - attempt.startedAt < permitHeldMs) break;
      this.#new.delete(attempt);
      this.#recent.add(attempt);
      attempt.age = 'recent';
      if (!attempt.isAnswered) this.#unansweredNew -= 1;
    }
    for (const attempt of this.#recent) {
      if (now - attempt.startedAt < slowAfterMs) break;
      this.#recent.delete(attempt);
      this.#slow.add(attempt);
      leaveRecent(attempt);
      attempt.age = 'slow';
      attempt.host.slow += 1;
      if (!attempt.isAnswered) this.#becomeSlow(attempt.queue);
    }
  }

  /** Notes that the status line and headers have come, or will not come. @returns false when that was noted before */
  answer(attempt: AttemptInFlight): boolean {
    if (attempt.isAnswered) return false;
    const { queue, age } = attempt;
    attempt.isAnswered = true;
    this.#unanswered -= 1;
    queue.running -= 1;
    if (age === 'new') this.#unansweredNew -= 1;
    if (age === 'slow') {
      this.#unansweredSlow -= 1;
      queue.slow -= 1;
    }
    return true;
  }

  /** The attempt is over. A body that is still being read is an open request to the host until then. */
  end(attempt: AttemptInFlight): void {
    this.#setOf(attempt).delete(attempt);
    attempt.queue.open -= 1;
    if (attempt.age === 'slow') attempt.host.slow -= 1;
    else leaveRecent(attempt);
    if (!this.#isEmpty) return;
    this.#allEnded?.resolve();
    this.#allEnded = undefined;
  }

  /** Resolves when no attempt is under way. */
  async allEnded(): Promise<void> {
    if (this.#isEmpty) return;
    this.#allEnded ??= Promise.withResolvers();
    await this.#allEnded.promise;
  }

  get #isEmpty(): boolean {
    return this.#new.size + this.#recent.size + this.#slow.size === 0;
  }

  #becomeSlow(queue: EndpointQueue): void {
    this.#unansweredSlow += 1;
    queue.slow += 1;
    this.#onSlow(queue);
  }

  #setOf({ age }: AttemptInFlight): Set<AttemptInFlight> {
    if (age === 'new') return this.#new;
    return age === 'recent' ? this.#recent : this.#slow;
  }
}

function leaveRecent({ queue, host, ofDegraded }: AttemptInFlight): void {
  host.recent -= 1;
  // A queue that has moved to another host since then counts from zero at the new host.
  if (queue.host === host && queue.recentAtHost > 0) queue.recentAtHost -= 1;
  if (ofDegraded) host.recentOfDegraded -= 1;
}
