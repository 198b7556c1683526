import type { Clock } from '@enterprise-api/shared/runtime';
import type { EndpointQueue } from './endpoint-queue.ts';
import type { HostLimit } from './host-limit.ts';
import { type InFlight, type Running, slowAfterMs } from './in-flight.ts';

/** What an attempt is told when it starts, and tells. */
export interface Start {
  /** Whether others connect before it: its endpoint has been slow. */
  canWait: boolean;
  /** Its turn to connect has come; what it waited before says nothing about its endpoint. */
  connects(): void;
  /** Frees the slot, once. */
  answered(): void;
}

/** Where attempts are counted. */
interface Counts {
  clock: Clock;
  inFlight: InFlight;
  hosts: HostLimit;
}

/** What one attempt takes up: a place of its lane and of the process until it is answered, and of its host until it ends. */
export class Permit {
  private readonly queue: EndpointQueue;
  private readonly counts: Counts;
  private readonly running: Running;
  private connectsAt: number;
  private freed = false;

  constructor(queue: EndpointQueue, hostKey: string, now: number, counts: Counts) {
    this.queue = queue;
    this.counts = counts;
    this.running = { webhookId: queue.webhookId, hostKey, startedAt: now };
    this.connectsAt = now;
    counts.inFlight.start(this.running);
    counts.hosts.enter(hostKey);
    queue.running += 1;
  }

  get isFree(): boolean {
    return this.freed;
  }

  connects(): void {
    this.connectsAt = this.counts.clock.monotonic();
  }

  free(byAnswer: boolean): void {
    const { queue, running } = this;
    const { clock, inFlight, hosts } = this.counts;
    this.freed = true;
    queue.running -= 1;
    if (inFlight.end(running)) {
      queue.slow -= 1;
      hosts.noteAnswered(running.hostKey);
    }
    if (byAnswer && clock.monotonic() - this.connectsAt < slowAfterMs) queue.degradedSince = Number.NEGATIVE_INFINITY;
  }

  /**
   * The attempt has ended. A body that is still being read is an open request to the host until then, though its
   * webhook's slot is free already.
   *
   * @returns whether its host was full
   */
  leave(timedOut: boolean): boolean {
    if (timedOut) this.queue.lastTimeoutAt = this.counts.clock.monotonic();
    return this.counts.hosts.leave(this.running.hostKey);
  }
}
