import type { Order } from '@enterprise-api/shared/contracts';
import { idMarginMs, startOfMonth } from '@enterprise-api/shared/ledger';

/** Times in ids, in milliseconds since 1970, `until` exclusive; null without a limit. A query opens the partitions of its range alone. */
export interface IdRange {
  from: number | null;
  until: number;
}

/** What rows are asked for, by their `created_at` in milliseconds since 1970. */
export interface RowsQuestion {
  order: Order;
  limit: number;
  since: number | null;
  until: number;
}

/** Rows of a range in the order of the question, as many as its limit at most. */
export interface FoundRows<Row> {
  rows: Row[];
  /** Rows with an earlier `created_at` may be in any older partition; null when none is. */
  lateUntil: number | null;
}

/** Beside {@link idMarginMs}, what the database's clock may have been set by between two rows. */
const marginMs = idMarginMs + 60_000;

/**
 * Reads a page from the partitions where it is expected, and from all others only when they may have rows of it: when these
 * do not fill the page, or when the organization has late rows of that time. So a page costs the same however
 * many months there are. The first rows in either order lie in two months at most: newest first in the last one and the
 * month before, oldest first in that of the beginning and the next.
 */
export async function readMonthByMonth<Row extends { created_at: Date }>(
  question: RowsQuestion,
  ask: (ids: IdRange) => Promise<FoundRows<Row>>,
): Promise<Row[]> {
  const all = rangeOf(question);
  const first = firstRange(question, all);
  const { rows, lateUntil } = await ask(first);
  const { since } = question;
  const last = rows.length < question.limit ? null : (rows.at(-1)?.created_at.getTime() ?? null);
  // What is missing of a page that is full lies before its last row: newest first, behind that row in time.
  const missedFrom = question.order === 'desc' ? (last ?? since) : since;
  const isLate = first.from !== null && lateUntil !== null && lateUntil >= (missedFrom ?? 0);
  if (!isLate && (isSame(first, all) || isBeforeOthers(question.order, first, last))) return rows;
  const rest = lateUntil !== null && lateUntil >= (since ?? 0) ? { ...all, from: null } : all;
  return (await ask(rest)).rows;
}

/** The months of all rows asked for, but for late ones. */
function rangeOf({ since, until }: RowsQuestion): IdRange {
  return { from: since === null ? null : startOfMonth(since - marginMs), until: until + marginMs };
}

function firstRange({ order, since, until }: RowsQuestion, all: IdRange): IdRange {
  if (order === 'desc') return { ...all, from: Math.max(all.from ?? 0, startOfMonth(until, -1)) };
  return since === null ? all : { ...all, until: Math.min(all.until, startOfMonth(since, 2)) };
}

const isSame = (one: IdRange, other: IdRange) => one.from === other.from && one.until === other.until;

/** Whether a full page comes before every row of other partitions. @param last `created_at` of its last row; null when it is not full */
function isBeforeOthers(order: Order, { from, until }: IdRange, last: number | null): boolean {
  if (last === null) return false;
  return order === 'desc' ? last >= (from ?? 0) + marginMs : last < until - marginMs;
}
