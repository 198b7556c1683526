import { type Database, databaseTime, type PartitionedTable, partitionedTables } from '@enterprise-api/shared/ledger';
import {
  expiredMonths,
  expiryOf,
  type Month,
  monthsOf,
  type Partition,
  partitionOf,
  startOfHistory,
} from './months.ts';
import { countPending, listPartitions } from './partition-queries.ts';
import { readProgress } from './progress-queries.ts';
import { countAudit, countDeletedWebhooks, oldestAudit } from './row-queries.ts';
import { auditBefore, deletedWebhooksBefore, pendingCountedUpTo } from './run.ts';
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
  return [...history, bodies, ...(await planRows(db, periods, now, progress.keys_removed_until))];
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
  keysRemovedUntil: Date | null,
): Promise<TablePlan[]> {
  const historyFrom = startOfHistory(periods, now);
  const auditGoes = Number.isFinite(periods.RETENTION_AUDIT);
  const audit = auditGoes ? await countAudit(db, auditBefore(periods, now), rowsCountedUpTo) : 0;
  const oldest = auditGoes && audit === 0 ? await oldestAudit(db) : null;
  const before = await deletedWebhooksBefore(db);
  const hasKeysToRemove = historyFrom > (keysRemovedUntil?.getTime() ?? 0);
  return [
    {
      name: 'event_keys',
      now: hasKeysToRemove ? [{ name: `those of events before ${new Date(historyFrom).toISOString()}`, bytes: 0 }] : [],
      kept: [],
      next: null,
    },
    {
      name: 'audit_log',
      now: [],
      kept: [],
      rows: audit,
      next: oldest && { name: 'the oldest row', at: new Date(oldest.getTime() + periods.RETENTION_AUDIT) },
    },
    {
      name: 'deleted webhooks',
      now: [],
      kept: [],
      rows: before === null || historyFrom === 0 ? 0 : await countDeletedWebhooks(db, before),
      next: null,
    },
  ];
}
