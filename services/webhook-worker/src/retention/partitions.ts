import { bodiesTable, dayMs, type PartitionedTable, startOfMonth } from '@enterprise-api/shared/ledger';
import type { RetentionPeriods } from './settings.ts';

/** A span of ids: those whose time is in it, in milliseconds since 1970. */
export interface IdSpan {
  /** The time in the least id. */
  from: number;
  /** The time in the first id behind the span. */
  until: number;
}

/** A month of the history, or a day of bodies. */
export interface Partition extends IdSpan {
  table: PartitionedTable | typeof bodiesTable;
  name: string;
  bytes: number;
}

/** The partitions of one month, in the order in which they go. */
export interface Month {
  from: number;
  partitions: Partition[];
}

/**
 * Rows may still be written to a partition for a while after its end: an id is at most 5 minutes off the database's clock when
 * it is made, and a transaction with an event in it is open for seconds, not for hours.
 */
const settlesWithinMs = dayMs;

/** When a partition may go: the youngest row that it can hold is then old enough. */
export function expiryOf({ table, until }: Pick<Partition, 'table' | 'until'>, periods: RetentionPeriods): number {
  const periodMs = table === bodiesTable ? periods.RETENTION_BODIES : periods.RETENTION_HISTORY;
  return until + Math.max(periodMs, settlesWithinMs);
}

/**
 * A delivery can be made pending again for as long as it is there: its partition is the first of its month to go. Without it
 * nobody asks for the others.
 */
const dropOrder = ['deliveries', 'attempts', 'events'] as const satisfies readonly PartitionedTable[];

/** The months of some partitions, oldest first. */
export function monthsOf(partitions: readonly Partition[]): Month[] {
  const ofHistory = partitions.filter(({ table }) => table !== bodiesTable);
  const starts = [...new Set(ofHistory.map(({ from }) => from))].sort((a, b) => a - b);
  return starts.map((from) => ({
    from,
    partitions: dropOrder.flatMap((table) => ofHistory.filter((found) => found.table === table && found.from === from)),
  }));
}

/** `2026-11` */
export function monthName({ from }: Pick<Month, 'from'>): string {
  return new Date(from).toISOString().slice(0, 7);
}

/** Bodies from before this time go, also those that have no partition of their own. 0: none go. */
export function startOfBodies({ RETENTION_BODIES }: RetentionPeriods, nowMs: number): number {
  const oldest = nowMs - Math.max(RETENTION_BODIES, settlesWithinMs);
  return Number.isFinite(oldest) ? Math.max(0, Math.floor(oldest / dayMs) * dayMs) : 0;
}

/**
 * The beginning of the first month whose history is kept: event keys, and what is known of deleted webhooks, from before it
 * may go. It does not depend on the partitions that are there, because a month that something pending keeps is an exception.
 */
export function startOfHistory(
  { RETENTION_HISTORY }: Pick<RetentionPeriods, 'RETENTION_HISTORY'>,
  nowMs: number,
): number {
  const oldest = nowMs - Math.max(RETENTION_HISTORY, settlesWithinMs);
  return Number.isFinite(oldest) ? startOfMonth(Math.max(0, oldest)) : 0;
}
