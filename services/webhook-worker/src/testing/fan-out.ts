import type { Database } from '@enterprise-api/shared/ledger';
import { fromPublicId, type Logger } from '@enterprise-api/shared/runtime';
import { FanOut } from '../fan-out/fan-out.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { plenty } from './ledger.ts';

/** What the log says of an event that was parked. */
interface ParkedEvent {
  event_id: string;
  reason: string;
  failures: number;
}

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
    leaseMs: 45_000,
    maxAttempts: 10,
    mayLease: () => process.mayLease ?? true,
    log: {
      error: (event: ParkedEvent) =>
        void parked.push({ ...event, event_id: fromPublicId('evt', event.event_id) ?? '' }),
    } as unknown as Logger,
    metrics: createWorkerMetrics(undefined),
    onRelayError: (error) => {
      throw error;
    },
  });
  const { wake } = fanOut.relay;
  fanOut.relay.wake = () => {
    left += 1;
    wake();
  };
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
