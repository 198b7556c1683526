import type { Database } from '@enterprise-api/shared/ledger';
import { type Clock, type Logger, toPublicId } from '@enterprise-api/shared/runtime';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { type Lease, toLease } from './lease.ts';
import type { LeaseRow } from './lease-row.ts';
import { findEvents, releaseLeases } from './queries.ts';

/** The way of leases into the lanes and back to the ledger. */
export interface LeaseLoader {
  /** Fetches the bodies, once per event, and puts the leases into their lanes. */
  accept(rows: LeaseRow[], leasedAt: number): Promise<void>;
  /** Gives leases back to the ledger: due now, for anybody. Never throws; a lease not given back runs out. */
  release(leases: readonly Lease[]): Promise<void>;
  /** Resolves when every hand-back begun so far is done. */
  settled(): Promise<void>;
}

export interface LeaseLoaderOptions {
  db: Database;
  clock: Clock;
  log: Logger;
  scheduler: Pick<Scheduler, 'accept'>;
  /** Where the deliveries of a webhook go; null when it is not there any more. */
  hostKey: (webhookId: string, atLeastVersion: number) => string | null | Promise<string | null>;
  /** After this age a lease has run out: the row belongs to somebody else, or soon will. */
  leaseMs: number;
}

export function createLeaseLoader({ db, clock, log, scheduler, hostKey, leaseMs }: LeaseLoaderOptions): LeaseLoader {
  const pending = new Set<Promise<void>>();
  const releaseCurrent = async (leases: readonly Lease[]): Promise<void> => {
    const current = leases.filter((lease) => clock.monotonic() - lease.leasedAt < leaseMs);
    if (current.length === 0) return;
    try {
      await releaseLeases(
        db,
        current.map((lease) => lease.deliveryId),
        current.map((lease) => lease.leaseToken),
      );
    } catch (error) {
      log.warn({ err: error, deliveries: current.length }, 'hand-back failed; the leases will run out');
    }
  };
  return {
    accept: async (rows, leasedAt) => {
      if (rows.length === 0) return;
      const [events, hostKeys] = await Promise.all([
        findEvents(db, [...new Set(rows.map((row) => row.event_id))]),
        findHostKeys(rows, hostKey),
      ]);
      const leases: Lease[] = [];
      for (const row of rows) {
        const event = events.get(row.event_id);
        if (event === undefined) {
          const ids = { delivery_id: toPublicId('dlv', row.id), event_id: toPublicId('evt', row.event_id) };
          log.error(ids, 'event has no body');
        } else leases.push(toLease(row, leasedAt, event, hostKeys.get(row.webhook_id) ?? ''));
      }
      scheduler.accept(leases);
    },
    release: (leases) => {
      const work = releaseCurrent(leases).finally(() => pending.delete(work));
      pending.add(work);
      return work;
    },
    settled: async () => {
      await Promise.all(pending);
    },
  };
}

/** By webhook. Those at hand cost nothing; the others are looked up together, which their attempts then need not. */
async function findHostKeys(
  rows: readonly LeaseRow[],
  find: LeaseLoaderOptions['hostKey'],
): Promise<Map<string, string | null>> {
  const found = new Map<string, string | null | Promise<string | null>>();
  for (const row of rows) {
    if (!found.has(row.webhook_id)) found.set(row.webhook_id, find(row.webhook_id, row.webhook_version));
  }
  return new Map(await Promise.all([...found].map(async ([id, key]) => [id, await key] as const)));
}
