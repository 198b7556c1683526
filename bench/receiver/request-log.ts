import { nowMs } from '../clock.ts';
import { idLength } from '../generator/load.ts';
import type { Position, Received, Sample } from './calls.ts';
import type { RequestHead } from './request-head.ts';

/** One request of 102 is kept whole to verify its signature, and the first one after `position` was read. */
const sampleEvery = 101;

/** Keeps every request in arrays of numbers, so that the log costs the receiver next to nothing. */
export class RequestLog {
  connections = 0;
  requests = 0;
  #capacity = 0;
  #eventIds = new Uint8Array(0);
  #webhooks = new Uint16Array(0);
  #attempts = new Uint8Array(0);
  #statuses = new Uint16Array(0);
  #at = new Float64Array(0);
  #samples: (Sample & { request: number })[] = [];
  #untilSample = 0;

  add({ webhook, eventId, attempt }: RequestHead, status: number): void {
    if (this.requests === this.#capacity) this.#grow();
    const index = this.requests;
    this.#webhooks[index] = webhook;
    this.#attempts[index] = attempt;
    this.#statuses[index] = status;
    this.#at[index] = nowMs();
    for (let at = 0; at < idLength; at++) this.#eventIds[index * idLength + at] = eventId.charCodeAt(at);
    this.requests = index + 1;
  }

  /** Whether the request that was added last is to be kept whole. To be called once for each request. */
  wantsSample(): boolean {
    this.#untilSample -= 1;
    if (this.#untilSample >= 0) return false;
    this.#untilSample = sampleEvery;
    return true;
  }

  keep(sample: Sample): void {
    this.#samples.push({ ...sample, request: this.requests });
  }

  position(): Position {
    this.#untilSample = 0;
    return { requests: this.requests, connections: this.connections };
  }

  since(position: Position): Received {
    const [from, to] = [position.requests, this.requests];
    return {
      requests: to - from,
      connections: this.connections - position.connections,
      eventIds: this.#eventIds.slice(from * idLength, to * idLength),
      webhooks: this.#webhooks.slice(from, to),
      attempts: this.#attempts.slice(from, to),
      statuses: this.#statuses.slice(from, to),
      at: this.#at.slice(from, to),
      samples: this.#samples.filter(({ request }) => request > from),
    };
  }

  /** The numbers of requests from one index on that were answered 200. */
  countAccepted(from: number): number {
    let count = 0;
    for (let index = from; index < this.requests; index++) if (this.#statuses[index] === 200) count += 1;
    return count;
  }

  #grow(): void {
    this.#capacity = Math.max(65_536, this.#capacity * 2);
    this.#eventIds = grown(this.#eventIds, new Uint8Array(this.#capacity * idLength));
    this.#webhooks = grown(this.#webhooks, new Uint16Array(this.#capacity));
    this.#attempts = grown(this.#attempts, new Uint8Array(this.#capacity));
    this.#statuses = grown(this.#statuses, new Uint16Array(this.#capacity));
    this.#at = grown(this.#at, new Float64Array(this.#capacity));
  }
}

function grown<Numbers extends Uint8Array | Uint16Array | Float64Array>(old: Numbers, larger: Numbers): Numbers {
  larger.set(old);
  return larger;
}
