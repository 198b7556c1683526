import type { Database } from '@enterprise-api/shared/ledger';
import { FanOut } from '../fan-out/fan-out.ts';
import type { ParkedEvent } from '../fan-out/parked-queries.ts';
import { plenty } from './ledger.ts';

/** A process with so much free capacity. */
interface TestProcess {
  free: number;
  mayLease?: boolean;
}

/** The fan-out of a process. Time passes when a test says so. */
export function fanOutOf(db: Database, process: TestProcess) {
  const startedAt = Date.now();
  let now = 0;
  const accepted: number[] = [];
  const parked: ParkedEvent[] = [];
  const refilled: string[] = [];
  let left = 0;
  const fanOut = new FanOut({
    db,
    clock: { now: () => startedAt + now, monotonic: () => now },
    scheduler: {
      startEligible: () => undefined,
      capacity: () => ({ ...plenty, total: process.free }),
      freeCapacity: () => process.free,
      noteDueRows: () => undefined,
      refill: (webhookIds) => void refilled.push(...webhookIds),
    },
    leaseLoader: { accept: async (rows) => void accepted.push(rows.length) },
    settings: { leaseMs: 45_000, maxAttempts: 10 },
    mayLease: () => process.mayLease ?? true,
    onFannedOut: () => undefined,
    onParked: (event) => void parked.push(event),
    onLeftInOutbox: () => {
      left += 1;
    },
  });
  return {
    fanOut,
    accepted,
    parked,
    /** Webhooks whose due rows dispatch was asked to look for. */
    refilled,
    left: () => left,
    pass: (ms: number) => {
      now += ms;
    },
  };
}
