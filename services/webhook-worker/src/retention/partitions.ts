import { bodiesTable, dayMs, type PartitionedTable, startOfDay, startOfMonth } from '@enterprise-api/shared/ledger';
import type { RetentionPeriods } from './settings.ts';

/** A span of ids, bounded by the times in the ids, in milliseconds since 1970. Includes `from` and excludes `until`. */
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
 * A partition gets no more rows this long after its end. The time in a new id differs from the database's clock by at
 * most 5 minutes. A transaction with an event is open for seconds, not for hours.
 */
const settlesWithinMs = dayMs;

export function expiryOf({ table, until }: Pick<Partition, 'table' | 'until'>, periods: RetentionPeriods): number {
  const periodMs = table === bodiesTable ? periods.RETENTION_BODIES : periods.RETENTION_HISTORY;
  return until + Math.max(periodMs, settlesWithinMs);
}

/**
 * Retention drops the deliveries of a month first, because an existing delivery can become pending again. Without
 * deliveries, no request needs the month's attempts and events.
 */
const dropOrder = [
  'deliveries',
  'attempts',
  'event_subjects',
  'fan_outs',
  'events',
] as const satisfies readonly PartitionedTable[];

/** Returns the history's partitions in the order in which retention drops them: by month, then by table. */
export function inDropOrder(partitions: readonly Partition[]): Partition[] {
  return dropOrder
    .flatMap((table) => partitions.filter((partition) => partition.table === table))
    .sort((a, b) => a.from - b.from);
}

/** Retention removes bodies from before this time, also from the default partition. 0 = removes no bodies. */
export function startOfBodies({ RETENTION_BODIES }: RetentionPeriods, nowMs: number): number {
  return startOfDay(oldestKept(RETENTION_BODIES, nowMs));
}

/** The first month of the kept history. Earlier months with pending rows stay too, but without event keys. */
export function startOfHistory({ RETENTION_HISTORY }: RetentionPeriods, nowMs: number): number {
  return startOfMonth(oldestKept(RETENTION_HISTORY, nowMs));
}

/** A sweep writes operational events up to 7 days late. The event keys tell the sweep which events exist already. */
const keysKeptMs = 8 * dayMs;

/** The time of the first event keys that are kept. */
export function startOfEventKeys(periods: RetentionPeriods, nowMs: number): number {
  return Math.min(startOfHistory(periods, nowMs), nowMs - keysKeptMs);
}

function oldestKept(periodMs: number, nowMs: number): number {
  return Math.max(0, nowMs - Math.max(periodMs, settlesWithinMs));
}
