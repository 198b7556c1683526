import type { Lease } from '../leases/lease.ts';
import type { EndpointQueue } from './endpoint-queue.ts';

/** The leases that wait in the lanes of a process: how many in all, and whose turn it is. */
export class ReadyQueue {
  private waitingInAll = 0;
  /** Endpoint queues with something waiting, in the order in which they are served: one start each, round and round. */
  private readonly ready = new Set<EndpointQueue>();

  get waiting(): number {
    return this.waitingInAll;
  }

  get isEmpty(): boolean {
    return this.ready.size === 0;
  }

  /** Endpoint queues with something waiting, as their turns come: one that was served comes again at the end. */
  inTurn(): Iterable<EndpointQueue> {
    return this.ready;
  }

  add(queue: EndpointQueue, lease: Lease): void {
    queue.waiting.push(lease);
    this.waitingInAll += 1;
    this.ready.add(queue);
  }

  /** Takes out the first of a lane's line. It is the others' turn then. */
  serve(queue: EndpointQueue): void {
    this.ready.delete(queue);
    if (queue.waiting.shift() !== undefined) this.waitingInAll -= 1;
    if (queue.waiting.length > 0) this.ready.add(queue);
  }

  /** Takes those out of a lane's line that are to go. */
  remove(queue: EndpointQueue, isToGo: (lease: Lease, place: number) => boolean): Lease[] {
    const going: Lease[] = [];
    const staying: Lease[] = [];
    for (const [place, lease] of queue.waiting.entries()) (isToGo(lease, place) ? going : staying).push(lease);
    queue.waiting = staying;
    this.waitingInAll -= going.length;
    if (queue.waiting.length === 0) this.ready.delete(queue);
    return going;
  }

  /** Takes the whole line of a lane out. */
  empty(queue: EndpointQueue): Lease[] {
    const all = queue.waiting;
    queue.waiting = [];
    this.waitingInAll -= all.length;
    this.ready.delete(queue);
    return all;
  }
}
