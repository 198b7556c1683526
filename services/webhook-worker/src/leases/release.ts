import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@enterprise-api/shared/ledger';
import { backoffMs, type Clock, type Logger, storeBackoff } from '@enterprise-api/shared/runtime';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { Lease } from './lease.ts';
import { releaseLeases } from './queries.ts';

export interface ReleaseOptions {
  db: Database;
  clock: Clock;
  log: Logger;
  scheduler: Pick<Scheduler, 'noteDueRows' | 'isStopped'>;
  /** A lease of this age has run out, and another process may lease the delivery. */
  leaseMs: number;
}

export type ReleasableLease = Pick<Lease, 'deliveryId' | 'webhookId' | 'leaseToken' | 'leasedAt'>;

/** Retries until the release succeeds or the leases have run out. Releasing a lease twice changes nothing. */
export async function releaseUntilDone(
  { db, clock, log, scheduler, leaseMs }: ReleaseOptions,
  leases: readonly ReleasableLease[],
): Promise<void> {
  for (let failures = 1; ; failures += 1) {
    const current = leases.filter((lease) => clock.monotonic() - lease.leasedAt < leaseMs);
    if (current.length === 0) return;
    try {
      const [ids, tokens] = [current.map((lease) => lease.deliveryId), current.map((lease) => lease.leaseToken)];
      await releaseLeases(db, ids, tokens);
      // Dispatch may have searched before these deliveries were due, so tell the scheduler about them.
      if (!scheduler.isStopped) scheduler.noteDueRows(new Set(current.map((lease) => lease.webhookId)));
      return;
    } catch (error) {
      log.warn({ err: error, deliveries: current.length }, 'leases not released yet');
      await pause(backoffMs(failures, storeBackoff));
    }
  }
}
