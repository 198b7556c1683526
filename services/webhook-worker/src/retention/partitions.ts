import { bodiesTable, dayMs, type PartitionedTable, startOfDay, startOfMonth } from '@enterprise-api/shared/ledger';
import type { RetentionPeriods } from './settings.ts';

/** A span of ids, by the times in them, in milliseconds since 1970. Includes `from` and excludes `until`. */
export interface IdSpan {
  from: number;
  until: number;
}

/** A month of history, or a day of bodies. */
export interface Partition extends IdSpan {
  table: PartitionedTable | typeof bodiesTable;
  name: string;
}

/**
 * A transaction may still write rows to a partition for a while after its end. A new id is at most 5 minutes off the
 * database's clock. A transaction with an event is open for seconds, not for hours.
 */
const settlesWithinMs = dayMs;

export function expiryOf({ table, until }: Pick<Partition, 'table' | 'until'>, periods: RetentionPeriods): number {
  const periodMs = table === bodiesTable ? periods.RETENTION_BODIES : periods.RETENTION_HISTORY;
  return until + Math.max(periodMs, settlesWithinMs);
}

/**
 * A delivery can become pending again while it exists: retention drops its partition first of its month. Without
 * deliveries, nobody asks for the other partitions.
 */
const dropOrder = ['deliveries', 'attempts', 'events'] as const satisfies readonly PartitionedTable[];

/** Sorts the partitions of the history by month, oldest first, then in the order in which retention drops them. */
export function inDropOrder(partitions: readonly Partition[]): Partition[] {
  return dropOrder
    .flatMap((table) => partitions.filter((partition) => partition.table === table))
    .sort((a, b) => a.from - b.from);
}

/** Retention removes bodies from before this time, even without a partition of their own. 0: removes no bodies. */
export function startOfBodies({ RETENTION_BODIES }: RetentionPeriods, nowMs: number): number {
  return startOfDay(oldestKept(RETENTION_BODIES, nowMs));
}

/** The first month whose history is kept. A month that pending rows keep is an exception, and keeps no event keys. */
export function startOfHistory({ RETENTION_HISTORY }: RetentionPeriods, nowMs: number): number {
  return startOfMonth(oldestKept(RETENTION_HISTORY, nowMs));
}

function oldestKept(periodMs: number, nowMs: number): number {
  return Math.max(0, nowMs - Math.max(periodMs, settlesWithinMs));
}
