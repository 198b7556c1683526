import type { Database } from '@enterprise-api/shared/ledger';
import { type Clock, createLoop, type Loop, nilUuid } from '@enterprise-api/shared/runtime';
import type { LeaseLoader } from '../leases/lease-loader.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { createPasses } from '../passes.ts';
import type { Capacity, Scheduler } from '../scheduler/scheduler.ts';
import type { PendingCancellation } from '../webhooks/pending-cancellation.ts';
import { type Dispatched, leaseDueDeliveries } from './queries.ts';

const busyEveryMs = 250;
const idleEveryMs = 1_000;
/** Limits the webhooks with backlogs that a run visits: a thousand take about 20 ms of database time (measured). */
const visitedPerRun = 1_000;
/** Limits the due deliveries that a run reads: more than a process can lease at once. */
const rowsPerRun = 1_000;
/** Minimum time between requested runs, because under load every freed endpoint queue requests a run. */
const wakeFloorMs = 20;

export interface DispatcherOptions {
  db: Database;
  clock: Clock;
  scheduler: Pick<
    Scheduler,
    'startEligible' | 'forgetIdle' | 'capacity' | 'noteDueRows' | 'noteNoneDue' | 'noteLimited'
  >;
  leaseLoader: Pick<LeaseLoader, 'accept'>;
  leaseMs: number;
  mayLease: () => boolean;
  cancellation: Pick<PendingCancellation, 'start'>;
  metrics: Pick<WorkerMetrics, 'deliveriesDispatched'>;
  onError: (error: unknown) => void;
}

/**
 * Leases due deliveries and passes them to the endpoint queues, webhook after webhook. Runs when an endpoint queue has
 * capacity again, and every 250 ms while deliveries are due. If nothing is due, waits at most 1 s for the next due
 * delivery.
 *
 * Usually a run begins with the oldest due deliveries. If a run cannot read all due deliveries, those that it reads may
 * all belong to one paused, limited or held webhook. If any such webhook exists, the next runs visit webhooks page by
 * page, until the next full pass.
 */
export function createDispatcher(options: DispatcherOptions): Loop {
  const { db, clock, scheduler, leaseLoader } = options;
  let cursor = nilUuid;
  let byPage = false;
  const passes = createPasses(clock);
  return createLoop({
    onError: options.onError,
    everyMs: idleEveryMs,
    wakeFloorMs,
    run: async () => {
      if (!options.mayLease()) return busyEveryMs;
      scheduler.forgetIdle();
      scheduler.startEligible();
      const capacity = scheduler.capacity('due');
      if (capacity.total === 0) return busyEveryMs;
      const leasedAt = clock.monotonic();
      const pass = passes.begin();
      byPage &&= pass.from !== null;
      const page = { cursor, visit: visitedPerRun, rows: byPage ? 0 : rowsPerRun, from: pass.from };
      const dispatched = await leaseDueDeliveries(db, page, capacity, options.leaseMs);
      pass.end((byPage ? pass.from : dispatched.dueSince)?.getTime() ?? null);
      byPage = dispatched.hasControlled;
      cursor = dispatched.cursor ?? nilUuid;
      options.metrics.deliveriesDispatched.inc(dispatched.leases.length);
      if (dispatched.notEnabled.length > 0) options.cancellation.start(dispatched.notEnabled);
      const backlogs = findBacklogs(capacity, dispatched);
      scheduler.noteDueRows(backlogs);
      scheduler.noteLimited(dispatched.limited);
      scheduler.noteNoneDue(findDrained(capacity, page.cursor, dispatched, backlogs), leasedAt);
      await leaseLoader.accept(dispatched.leases, leasedAt);
      // Run again at once, so that webhooks with backlogs get the capacity that other webhooks did not use.
      const canLeaseMore = backlogs.size > 0 && dispatched.leases.length < capacity.total;
      return canLeaseMore ? 0 : delayAfter(page.cursor, dispatched);
    },
  });
}

function delayAfter(from: string, { cursor, leases, isComplete, nextDueMs, limited }: Dispatched): number {
  if (!isComplete && cursor !== null) return leases.length > 0 ? 0 : busyEveryMs;
  // A run that started from a cursor has not visited the webhooks before the cursor, so run again at once.
  if (!isComplete && from !== nilUuid) return 0;
  // A limit may let another delivery start at any time.
  if (leases.length > 0 || limited.length > 0) return busyEveryMs;
  return Math.min(idleEveryMs, Math.max(busyEveryMs, nextDueMs ?? idleEveryMs));
}

/**
 * Finds webhooks that got as many leases as they could and may have more due deliveries. All other served webhooks have
 * no due deliveries left.
 */
function findBacklogs(capacity: Capacity, { leases, share }: Dispatched): Set<string> {
  const given = new Map<string, number>();
  for (const lease of leases) given.set(lease.webhook_id, (given.get(lease.webhook_id) ?? 0) + 1);
  const freeOf = new Map(capacity.webhookIds.map((id, index) => [id, capacity.free[index] ?? 0]));
  const full = [...given].filter(([id, count]) => count >= Math.min(share, freeOf.get(id) ?? capacity.ofNewQueue));
  return new Set(full.map(([id]) => id));
}

function findDrained(
  capacity: Capacity,
  from: string,
  { leases, cursor, isComplete }: Dispatched,
  backlogs: ReadonlySet<string>,
): string[] {
  // A run that reached its limit may not have served every webhook. A partial run visited only the webhooks between its
  // cursors.
  if (leases.length >= capacity.total) return [];
  const wasVisited = (id: string) => isComplete || (id > from && (cursor === null || id <= cursor));
  return capacity.webhookIds.filter(
    (id, index) => wasVisited(id) && !backlogs.has(id) && (capacity.free[index] ?? 0) > 0,
  );
}
