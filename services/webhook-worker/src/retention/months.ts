import { type PartitionedTable, partitionedTables, partitionName } from '@enterprise-api/shared/ledger';
import type { RetentionPeriods } from './settings.ts';

/** A month's partition of one of the partitioned tables, as the catalog has it. */
export interface Partition {
  table: PartitionedTable;
  name: string;
  /** The time in the least id that it can hold, and the time in the first id behind it; milliseconds since 1970. */
  from: number;
  until: number;
  /** Whether its detaching was interrupted: readers of the table do not see it any more. */
  isDetaching: boolean;
  bytes: number;
}

/** The partitions of one month that are attached. */
export interface Month {
  from: number;
  until: number;
  partitions: Partition[];
}

/**
 * For how long after a month's end rows may still be written to its partitions. An id is at most 5 minutes off the database's
 * clock when it is made, and a transaction with an event in it is open for seconds, not for hours.
 */
const settlesWithinMs = 24 * 60 * 60_000;

/** When what is kept for `periodMs` may go of a month: when the youngest row that it can hold is old enough. */
export function expiryOf(month: Pick<Month, 'until'>, periodMs: number): number {
  return month.until + Math.max(periodMs, settlesWithinMs);
}

/** Oldest first. */
export function monthsOf(partitions: readonly Partition[]): Month[] {
  const months = new Map<number, Month>();
  for (const partition of partitions) {
    const { from, until } = partition;
    const month = months.get(from) ?? { from, until, partitions: [] };
    month.partitions.push(partition);
    months.set(from, month);
  }
  return [...months.values()].sort((a, b) => a.from - b.from);
}

/** The months whose history may go, and those of which only the bodies may go, and have not gone yet. Oldest first. */
export interface ExpiredMonths {
  history: Month[];
  bodies: Month[];
}

/** @param bodiesRemovedUntil the bodies of months that end by then have gone (milliseconds since 1970) */
export function expiredMonths(
  months: readonly Month[],
  { RETENTION_BODIES, RETENTION_HISTORY }: Pick<RetentionPeriods, 'RETENTION_BODIES' | 'RETENTION_HISTORY'>,
  nowMs: number,
  bodiesRemovedUntil: number,
): ExpiredMonths {
  const history = months.filter((month) => expiryOf(month, RETENTION_HISTORY) <= nowMs);
  const bodies = months.filter(
    (month) =>
      month.until > bodiesRemovedUntil && expiryOf(month, RETENTION_BODIES) <= nowMs && partitionOf(month, 'events'),
  );
  return { history, bodies };
}

export function partitionOf(month: Month, table: PartitionedTable): Partition | undefined {
  return month.partitions.find((partition) => partition.table === table);
}

/**
 * The beginning of the first month whose history is kept: event keys, and what is known of deleted webhooks, from before it
 * may go. It does not depend on the partitions that are there, because a month that something pending keeps is an exception.
 */
export function startOfHistory(
  { RETENTION_HISTORY }: Pick<RetentionPeriods, 'RETENTION_HISTORY'>,
  nowMs: number,
): number {
  const oldest = new Date(Math.max(0, nowMs - Math.max(RETENTION_HISTORY, settlesWithinMs)));
  return Number.isFinite(RETENTION_HISTORY) ? Date.UTC(oldest.getUTCFullYear(), oldest.getUTCMonth(), 1) : 0;
}

/** The month that a partition's name says; null when it is no name of a partition. */
export function monthOfName(name: string): { table: PartitionedTable; from: number; until: number } | null {
  const match = /^(?<table>[a-z]+)_(?<year>\d{4})_(?<month>\d{2})$/.exec(name)?.groups;
  const table = partitionedTables.find((candidate) => candidate === match?.table);
  if (match === undefined || table === undefined) return null;
  const [year, month] = [Number(match.year), Number(match.month)];
  const from = Date.UTC(year, month - 1, 1);
  return partitionName(table, from) === name ? { table, from, until: Date.UTC(year, month, 1) } : null;
}
