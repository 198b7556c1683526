import type { Clock } from '@enterprise-api/shared/runtime';
import type { Lease } from '../leases/lease.ts';
import type { Rooms } from './capacity.ts';
import { capacity, createLane, freeRoom, isSuspect, type Lane, type LaneLimits, roomForNew } from './endpoint-queue.ts';
import { HostLimit } from './host-limit.ts';
import { InFlight } from './in-flight.ts';
import { Slot, type Start } from './permit.ts';
import { Lines } from './ready-queue.ts';

/** What happened to a lease that a lane let go. */
interface LaneEvents {
  /** Starts the attempt; the promise settles when all is done. */
  run(lease: Lease, start: Start): Promise<{ timedOut: boolean }>;
  /** Leases that were not started and are to be given back. */
  handBack(leases: Lease[]): void;
  /** A lane with due rows in the ledger has room again. */
  needsRefill(): void;
  /** An attempt has ended, and few wait: there is room for new deliveries. */
  hasRoom(): void;
}

export interface LanesOptions {
  clock: Clock;
  /** Attempts younger than 1 s in the whole process. */
  slots: number;
  limits: LaneLimits;
  /** Attempts under way to one host, over all webhooks of one organization. */
  perHost: number;
  /** A lease older than this is given back instead of started. */
  startWithinMs: number;
  events: LaneEvents;
}

/** With so many old attempts, only webhooks with a clean record start. */
const maxOldAttempts = 1_000;
const cleanAfterMs = 5 * 60_000;
const tickMs = 50;
/** What a process is given beyond two lines per slot is handed back from here on, in lines per slot. */
const mostWaiting = 4;

/** Decides which leased delivery starts when, so that no endpoint can take the process away from the others. */
export class Lanes {
  private readonly lanes = new Map<string, Lane>();
  private readonly lines = new Lines();
  private readonly inFlight: InFlight;
  private readonly hosts: HostLimit;
  private readonly options: LanesOptions;
  /** The limits of a process whose lines are full: what can start at once. */
  private readonly withoutLines: LaneLimits;
  private ticker: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(options: LanesOptions) {
    this.options = options;
    this.withoutLines = { ...options.limits, waiting: 0 };
    this.hosts = new HostLimit(options.perHost);
    this.inFlight = new InFlight((running) => {
      this.hosts.noteOld(running.hostKey);
      const lane = this.lanes.get(running.webhookId);
      if (lane) this.noteOld(lane);
    });
  }

  /** Puts leases into their lanes and starts what may start. */
  accept(leases: readonly Lease[]): void {
    if (this.stopped) return this.options.events.handBack([...leases]);
    for (const lease of leases) {
      const lane = this.laneOf(lease.webhookId);
      lane.hostKey = lease.hostKey;
      this.lines.add(lane, lease);
    }
    this.startWhatMay();
    this.handBackSurplus(leases);
  }

  /** Rows of these webhooks are due in the ledger (or, with `due` false, no more than were leased). */
  noteDueRows(webhookIds: Iterable<string>, due: boolean): void {
    for (const id of webhookIds) {
      const lane = due ? this.laneOf(id) : this.lanes.get(id);
      if (lane) lane.hasDueRows = due;
      if (lane && !due) this.dropIfIdle(lane);
    }
  }

  /** The breaker of a webhook is open: what waits here goes back to the ledger. */
  hold(webhookId: string, forMs: number): void {
    const lane = this.laneOf(webhookId);
    lane.heldUntil = this.options.clock.monotonic() + forMs;
    if (lane.waiting.length > 0) this.options.events.handBack(this.lines.empty(lane));
  }

  /**
   * Room per lane, for take (`new` deliveries) or for dispatch (`due` ones). When fewer places are free in the lines than
   * slots, what waits there does so for its own endpoints: others are then given what can start at once.
   */
  rooms(kind: 'new' | 'due'): Rooms {
    const { limits, clock, slots } = this.options;
    const now = clock.monotonic();
    // Slots that have come free by ageing are first of all for what waits.
    this.startWhatMay();
    const inLines = this.roomInAll();
    const freeSlots = this.inFlight.freeSlots(slots);
    const isAtOnce = inLines < freeSlots;
    const lines = isAtOnce ? this.withoutLines : limits;
    const webhookIds: string[] = [];
    const free: number[] = [];
    const busy: number[] = [];
    for (const lane of this.lanes.values()) {
      this.dropIfIdle(lane);
      webhookIds.push(lane.webhookId);
      const room = kind === 'new' ? roomForNew(lane, lines, now) : freeRoom(lane, lines);
      const isOpen = this.mayStart(lane, now) && !this.hosts.isStuck(lane.hostKey);
      const places = isAtOnce ? this.hosts.freePlaces(lane.hostKey) : Number.POSITIVE_INFINITY;
      free.push(isOpen ? Math.min(room, places) : 0);
      busy.push(lane.running + lane.waiting.length);
    }
    const ofNewLane = lines.concurrency + lines.waiting;
    return { webhookIds, free, busy, ofNewLane, inAll: this.stopped ? 0 : Math.max(inLines, freeSlots) };
  }

  /**
   * How many new deliveries this process could use now; none until fewer wait than may run, so that they come in batches.
   * Where slots are free, what waits does so for its own endpoints: it is no reason to keep those of others waiting.
   * A process that stops leaves nothing for later: what it takes is due for anybody.
   */
  room(): number {
    const { slots } = this.options;
    if (this.stopped) return Number.POSITIVE_INFINITY;
    this.startWhatMay();
    if (this.lines.waiting <= slots) return this.roomInAll();
    return this.inFlight.freeSlots(slots) > 0 ? Number.POSITIVE_INFINITY : 0;
  }

  /** Starts nothing more; what waits is handed back. Attempts under way go on. */
  stop(): void {
    this.stopped = true;
    clearInterval(this.ticker);
    this.ticker = undefined;
    const left = [...this.lines.inTurn()].flatMap((lane) => this.lines.empty(lane));
    if (left.length > 0) this.options.events.handBack(left);
  }

  get isStopped(): boolean {
    return this.stopped;
  }

  /** Figures for the metrics. */
  get figures(): { lanes: number; running: number; old: number; waiting: number } {
    return {
      lanes: this.lanes.size,
      running: this.inFlight.size,
      old: this.inFlight.oldCount,
      waiting: this.lines.waiting,
    };
  }

  private roomInAll(): number {
    return Math.max(0, 2 * this.options.slots - this.lines.waiting);
  }

  private startWhatMay(): void {
    const now = this.options.clock.monotonic();
    this.inFlight.age(now);
    for (const lane of this.lines.inTurn()) {
      if (this.inFlight.freeSlots(this.options.slots) === 0) break;
      this.handBackStale(lane, now);
      const [lease] = lane.waiting;
      if (!lease || !this.hasPlace(lane, lease, now)) continue;
      this.lines.serve(lane);
      this.start(lane, lease, now);
    }
    this.tickWhileWaiting();
  }

  private start(lane: Lane, lease: Lease, now: number): void {
    const { inFlight, hosts } = this;
    const { clock, events } = this.options;
    const slot = new Slot(lane, lease.hostKey, now, { clock, inFlight, hosts });
    const free = (byAnswer: boolean) => {
      if (slot.isFree) return;
      slot.free(byAnswer);
      this.afterFree(lane);
    };
    // A test is what somebody waits for.
    const canWait = isSuspect(lane) && lease.eventType !== 'webhook.test';
    const start = { canWait, connects: () => slot.connects(), answered: () => free(true) };
    void events.run(lease, start).then(({ timedOut }) => {
      const wasFull = slot.leave(timedOut);
      if (!slot.isFree) free(false);
      else if (wasFull && !this.stopped && !this.lines.isEmpty) this.startWhatMay();
    });
  }

  private afterFree(lane: Lane): void {
    if (!this.stopped && !this.lines.isEmpty) this.startWhatMay();
    const hasRoom = this.lines.waiting < this.options.slots;
    if (hasRoom && !this.stopped) this.options.events.hasRoom();
    if (lane.hasDueRows && this.isHalfEmpty(lane, hasRoom)) this.options.events.needsRefill();
    this.dropIfIdle(lane);
  }

  /**
   * Whether a lane could use many more. With many backlogs each line is short: asking for a few rows at every answer would
   * keep the ledger walking. A process whose lines are full asks for what can start at once.
   */
  private isHalfEmpty(lane: Lane, hasRoom: boolean): boolean {
    const { limits, slots } = this.options;
    if (hasRoom) return freeRoom(lane, limits) * 2 >= limits.waiting;
    return freeRoom(lane, this.withoutLines) * 2 >= limits.concurrency && this.inFlight.freeSlots(slots) > 0;
  }

  private hasPlace(lane: Lane, lease: Lease, now: number): boolean {
    const hasSlot = lane.running < capacity(lane, this.options.limits) && this.mayStart(lane, now);
    return hasSlot && !this.hosts.isFull(lease.hostKey);
  }

  private mayStart(lane: Lane, now: number): boolean {
    if (this.inFlight.oldCount < maxOldAttempts) return true;
    return lane.old === 0 && now - lane.lastTimeoutAt > cleanAfterMs;
  }

  /** A lane that becomes slow has no line: what waited in it would take up the process's room for others. */
  private noteOld(lane: Lane): void {
    lane.old += 1;
    lane.suspectSince = this.options.clock.monotonic();
    if (lane.old === 1) this.handBackDue(lane, this.lines.empty(lane));
  }

  /** Several takes at a time are given the same room. What then neither starts nor has any place is for others. */
  private handBackSurplus(leases: readonly Lease[]): void {
    const most = mostWaiting * this.options.slots;
    const lanes = new Set(this.lines.waiting > most ? leases.map(({ webhookId }) => this.laneOf(webhookId)) : []);
    for (const lane of lanes) {
      const kept = lane.waiting.length - (this.lines.waiting - most);
      this.handBackDue(
        lane,
        this.lines.remove(lane, (_lease, place) => place >= kept),
      );
    }
  }

  private handBackDue(lane: Lane, leases: Lease[]): void {
    if (leases.length === 0) return;
    lane.hasDueRows = true;
    this.options.events.handBack(leases);
  }

  private handBackStale(lane: Lane, now: number): void {
    const { startWithinMs } = this.options;
    // Leases come in the order of time, so the first tells whether there is anything to do.
    const first = lane.waiting[0];
    if (first === undefined) return;
    if (this.hosts.isStuck(first.hostKey)) this.handBackDue(lane, this.lines.empty(lane));
    else if (now - first.leasedAt > startWithinMs) {
      this.handBackDue(
        lane,
        this.lines.remove(lane, (lease) => now - lease.leasedAt > startWithinMs),
      );
    }
  }

  /** Ageing frees slots and leases grow stale without any other event: look again while anything waits. */
  private tickWhileWaiting(): void {
    if (!this.lines.isEmpty && !this.stopped) {
      this.ticker ??= setInterval(() => this.tick(), tickMs);
    } else {
      clearInterval(this.ticker);
      this.ticker = undefined;
    }
  }

  private tick(): void {
    const now = this.options.clock.monotonic();
    for (const lane of this.lines.inTurn()) this.handBackStale(lane, now);
    this.startWhatMay();
  }

  private laneOf(webhookId: string): Lane {
    let lane = this.lanes.get(webhookId);
    if (!lane) {
      lane = createLane(webhookId);
      this.lanes.set(webhookId, lane);
    }
    return lane;
  }

  /** A lane that remembers nothing of interest is forgotten. */
  private dropIfIdle(lane: Lane): void {
    const now = this.options.clock.monotonic();
    const troubledAt = Math.max(lane.lastTimeoutAt, lane.suspectSince);
    const remembers = lane.hasDueRows || lane.heldUntil > now || now - troubledAt < cleanAfterMs;
    if (lane.running === 0 && lane.waiting.length === 0 && !remembers) this.lanes.delete(lane.webhookId);
  }
}
