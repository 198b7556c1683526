import { bodiesTable, dayMs, type PartitionedTable, startOfDay, startOfMonth } from '@enterprise-api/shared/ledger';
import type { RetentionPeriods } from './settings.ts';

/** A span of ids, by the times in them: from the least id up to the first id behind the span, in milliseconds since 1970. */
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
 * Rows may still be written to a partition for a while after its end: an id is at most 5 minutes off the database's clock when
 * it is made, and a transaction with an event in it is open for seconds, not for hours.
 */
const settlesWithinMs = dayMs;

/** When the youngest row that a partition can hold is old enough. */
export function expiryOf({ table, until }: Pick<Partition, 'table' | 'until'>, periods: RetentionPeriods): number {
  const periodMs = table === bodiesTable ? periods.RETENTION_BODIES : periods.RETENTION_HISTORY;
  return until + Math.max(periodMs, settlesWithinMs);
}

/**
 * A delivery can be made pending again for as long as it is there: its partition is the first of its month to go. Without it
 * nobody asks for the others.
 */
const dropOrder = ['deliveries', 'attempts', 'events'] as const satisfies readonly PartitionedTable[];

/** The partitions of the history in the order in which they go, the oldest month first. */
export function inDropOrder(partitions: readonly Partition[]): Partition[] {
  return dropOrder
    .flatMap((table) => partitions.filter((partition) => partition.table === table))
    .sort((a, b) => a.from - b.from);
}

/** Bodies from before this time go, also those that have no partition of their own. 0: none go. */
export function startOfBodies({ RETENTION_BODIES }: RetentionPeriods, nowMs: number): number {
  return startOfDay(oldestKept(RETENTION_BODIES, nowMs));
}

/** The first month whose history is kept. A month that something pending keeps is an exception, and keeps no event keys. */
export function startOfHistory({ RETENTION_HISTORY }: RetentionPeriods, nowMs: number): number {
  return startOfMonth(oldestKept(RETENTION_HISTORY, nowMs));
}

function oldestKept(periodMs: number, nowMs: number): number {
  return Math.max(0, nowMs - Math.max(periodMs, settlesWithinMs));
}
