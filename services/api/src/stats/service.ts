import {
  type QueueCounts,
  type Stats,
  statsCountLimit,
  statsNamedOrganizations,
} from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { type Clock, nilUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { readLately, readPauses, readRetention, readSnapshot, readWaiting } from './queries.ts';

export interface StatsServiceOptions {
  db: Database;
  /** Of the database. */
  clock: Pick<Clock, 'now'>;
  /** The jobs of every queue; null when the queue does not answer in time. */
  countJobs: () => Promise<QueueCounts[] | null>;
}

export type StatsService = ReturnType<typeof createStatsService>;

/** What an operator wants to see first. Every count is limited, so that asking costs the same whatever waits. */
export function createStatsService({ db, clock, countJobs }: StatsServiceOptions) {
  const readLedger = (now: number) =>
    readSnapshot(db, async (trx) => ({
      waiting: await readWaiting(trx, nilUuid),
      last_minute: await readLately(trx, now, 60),
      last_hour: await readLately(trx, now, 3_600),
      pauses: await readPauses(trx),
      retention: await readRetention(trx),
    }));
  return {
    read: async (): Promise<Stats> => {
      const now = clock.now();
      const [{ waiting, pauses, retention, ...lately }, queues] = await Promise.all([readLedger(now), countJobs()]);
      return {
        object: 'stats',
        at: new Date(now).toISOString(),
        counts_stop_at: statsCountLimit,
        sending: presentPauses(pauses, waiting.paused_organizations),
        outbox: { events: waiting.outbox_events, oldest_seconds: waiting.outbox_oldest_seconds },
        parked_events: waiting.parked_events,
        deliveries: { pending: waiting.pending, due: waiting.due, overdue: waiting.overdue },
        ...lately,
        webhooks: {
          open_circuits: waiting.open_circuits,
          disabled_failing: waiting.disabled_failing,
          disabled_gone: waiting.disabled_gone,
        },
        queues,
        partitions: { oldest_month: waiting.oldest_month, newest_month: waiting.newest_month },
        retention: {
          bodies_removed_until: retention?.bodies_removed_until?.toISOString() ?? null,
          keys_removed_until: retention?.keys_removed_until?.toISOString() ?? null,
          completed_at: retention?.completed_at?.toISOString() ?? null,
          kept_months: retention?.kept_months ?? 0,
        },
      };
    },
  };
}

function presentPauses(pauses: Awaited<ReturnType<typeof readPauses>>, organizations: number): Stats['sending'] {
  const everybody = pauses.find(({ organization_id }) => organization_id === nilUuid);
  const named = pauses.filter((pause) => pause !== everybody).slice(0, statsNamedOrganizations);
  return {
    paused: everybody !== undefined,
    since: everybody?.paused_at.toISOString() ?? null,
    paused_organizations: organizations,
    organizations: named.map(({ organization_id, paused_at }) => ({
      organization_id: toPublicId('org', organization_id),
      since: paused_at.toISOString(),
    })),
  };
}
