import type { Lease } from '../leases/lease.ts';
import type { Lane } from './endpoint-queue.ts';

/** The leases that wait in the lanes of a process: how many in all, and whose turn it is. */
export class Lines {
  private waitingInAll = 0;
  /** Lanes with something waiting, in the order in which they are served: one start each, round and round. */
  private readonly ready = new Set<Lane>();

  get waiting(): number {
    return this.waitingInAll;
  }

  get isEmpty(): boolean {
    return this.ready.size === 0;
  }

  /** Lanes with something waiting, as their turns come: one that was served comes again at the end. */
  inTurn(): Iterable<Lane> {
    return this.ready;
  }

  add(lane: Lane, lease: Lease): void {
    lane.waiting.push(lease);
    this.waitingInAll += 1;
    this.ready.add(lane);
  }

  /** Takes out the first of a lane's line. It is the others' turn then. */
  serve(lane: Lane): void {
    this.ready.delete(lane);
    if (lane.waiting.shift() !== undefined) this.waitingInAll -= 1;
    if (lane.waiting.length > 0) this.ready.add(lane);
  }

  /** Takes those out of a lane's line that are to go. */
  remove(lane: Lane, isToGo: (lease: Lease, place: number) => boolean): Lease[] {
    const going: Lease[] = [];
    const staying: Lease[] = [];
    for (const [place, lease] of lane.waiting.entries()) (isToGo(lease, place) ? going : staying).push(lease);
    lane.waiting = staying;
    this.waitingInAll -= going.length;
    if (lane.waiting.length === 0) this.ready.delete(lane);
    return going;
  }

  /** Takes the whole line of a lane out. */
  empty(lane: Lane): Lease[] {
    const all = lane.waiting;
    lane.waiting = [];
    this.waitingInAll -= all.length;
    this.ready.delete(lane);
    return all;
  }
}
