import { type Database, databaseTime, type PartitionedTable, partitionedTables } from '@enterprise-api/shared/ledger';
import { expiredMonths, expiryOf, type Month, monthsOf, type Partition, partitionOf } from './months.ts';
import { countPending, listPartitions } from './partition-queries.ts';
import { readProgress } from './progress-queries.ts';
import { rowLimits } from './row-limits.ts';
import { countAudit, countDeletedWebhooks, oldestAudit } from './row-queries.ts';
import { pendingCountedUpTo } from './run.ts';
import type { RetentionPeriods } from './settings.ts';

/** What goes of one table, or of its bodies. */
export interface TablePlan {
  name: string;
  /** Partitions that go now. */
  now: Pick<Partition, 'name' | 'bytes'>[];
  /** Partitions that would go now if nothing in them were pending. */
  kept: { name: string; pending: number }[];
  /** Rows that go now, of a table without partitions; counted up to 100,000. */
  rows?: number;
  /** What goes next after that, and when; null when nothing that is there ever goes. */
  next: { name: string; at: Date } | null;
}

const rowsCountedUpTo = 100_000;

/** What a run would remove now, without removing anything. */
export async function planRetention(db: Database, periods: RetentionPeriods): Promise<TablePlan[]> {
  const now = (await databaseTime(db)).getTime();
  const months = monthsOf(await listPartitions(db));
  const progress = await readProgress(db);
  const removedUntil = progress.bodies_removed_until?.getTime() ?? 0;
  const expired = expiredMonths(months, periods, now, removedUntil);
  const pending = new Map<Month, number>();
  for (const month of expired.history) pending.set(month, await countPending(db, month, pendingCountedUpTo));
  const isGoing = (month: Month) => pending.get(month) === 0;
  const history = partitionedTables.map((table) => ({
    name: table,
    now: partitionsOf([...pending.keys()].filter(isGoing), table),
    kept: [...pending].flatMap(([month, count]) => (count > 0 ? keptOf(month, table, count) : [])),
    next: nextOf(months, table, periods.RETENTION_HISTORY, now, 0),
  }));
  const bodies = {
    name: 'bodies of events',
    now: partitionsOf(
      expired.bodies.filter((month) => !isGoing(month)),
      'events',
    ),
    kept: [],
    next: nextOf(months, 'events', periods.RETENTION_BODIES, now, removedUntil),
  };
  return [...history, bodies, ...(await planRows(db, periods, now, progress))];
}

function partitionsOf(months: readonly Month[], table: PartitionedTable): TablePlan['now'] {
  return months.flatMap((month) => partitionOf(month, table) ?? []);
}

function keptOf(month: Month, table: PartitionedTable, pending: number): TablePlan['kept'] {
  const partition = partitionOf(month, table);
  return partition === undefined ? [] : [{ name: partition.name, pending }];
}

function nextOf(
  months: readonly Month[],
  table: PartitionedTable,
  periodMs: number,
  now: number,
  removedUntil: number,
): TablePlan['next'] {
  if (!Number.isFinite(periodMs)) return null;
  for (const month of months) {
    const partition = partitionOf(month, table);
    const at = expiryOf(month, periodMs);
    if (partition !== undefined && month.until > removedUntil && at > now)
      return { name: partition.name, at: new Date(at) };
  }
  return null;
}

async function planRows(
  db: Database,
  periods: RetentionPeriods,
  now: number,
  progress: Parameters<typeof rowLimits>[3],
): Promise<TablePlan[]> {
  const { eventKeys, audit, deletedWebhooks } = await rowLimits(db, periods, now, progress);
  const oldRows = audit === null ? 0 : await countAudit(db, audit, rowsCountedUpTo);
  const oldest = audit !== null && oldRows === 0 ? await oldestAudit(db) : null;
  return [
    {
      name: 'event_keys',
      now:
        eventKeys === null ? [] : [{ name: `those of events before ${new Date(eventKeys).toISOString()}`, bytes: 0 }],
      kept: [],
      next: null,
    },
    {
      name: 'audit_log',
      now: [],
      kept: [],
      rows: oldRows,
      next: oldest && { name: 'the oldest row', at: new Date(oldest.getTime() + periods.RETENTION_AUDIT) },
    },
    {
      name: 'deleted webhooks',
      now: [],
      kept: [],
      rows: deletedWebhooks === null ? 0 : await countDeletedWebhooks(db, deletedWebhooks),
      next: null,
    },
  ];
}
