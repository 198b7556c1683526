import { type Database, idMarginMs, type Row } from '@enterprise-api/shared/ledger';
import { startOfHistory } from './months.ts';
import { listPartitions } from './partition-queries.ts';
import type { RetentionPeriods } from './settings.ts';

/** Up to when rows go of the tables without partitions; null where none is to be looked for. */
export interface RowLimits {
  /** Milliseconds since 1970, in the ids of the keys' events. */
  eventKeys: number | null;
  audit: Date | null;
  deletedWebhooks: Date | null;
}

/** By the partitions that are there: of webhooks that were deleted before the first of them no delivery is left. */
export async function rowLimits(
  db: Database,
  periods: RetentionPeriods,
  now: number,
  { keys_removed_until }: Pick<Row<'retention_progress'>, 'keys_removed_until'>,
): Promise<RowLimits> {
  const historyFrom = startOfHistory(periods, now);
  const oldest = (await listPartitions(db)).find(({ table }) => table === 'deliveries');
  return {
    eventKeys: historyFrom > (keys_removed_until?.getTime() ?? 0) ? historyFrom : null,
    audit: Number.isFinite(periods.RETENTION_AUDIT) ? new Date(Math.max(0, now - periods.RETENTION_AUDIT)) : null,
    deletedWebhooks: oldest === undefined || historyFrom === 0 ? null : new Date(oldest.from - idMarginMs),
  };
}
