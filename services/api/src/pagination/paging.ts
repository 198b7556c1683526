import type { Order, Page } from '@enterprise-api/shared/contracts';
import { invalid, isProblem, type Problem } from '../http/problem.ts';
import type { CursorScope, Cursors, Position } from './cursor.ts';

/** A row of a list's query. */
export interface Positioned {
  id: string;
  /** Its sort key, as {@link Position} wants it. */
  position: string;
  /** Whether the page ends before this row although it could hold more rows: together they would be too large. */
  isBeyondPage?: boolean;
}

/** What a list's query is asked for: one row more than the page, to know whether another page follows. */
export interface PageQuestion {
  after: Position | null;
  limit: number;
  order: Order;
}

const badCursor = {
  location: 'query',
  path: 'cursor',
  code: 'invalid_cursor',
  message: 'is not one of this list with these filters',
} as const;

/** How a list differs from the others. */
export interface ListOptions {
  /** The place before the first row, in a list that grows at its end: every page then has a next cursor. */
  start?: Position;
}

/**
 * Answers a page of a list: opens the cursor, reads one row more than the page holds, seals the next cursor.
 *
 * @param ask returns rows in the order of the question, after the given position, at most `limit`; or why there are none
 */
export async function paginate<Row extends Positioned, Item>(
  cursors: Cursors,
  request: { cursor?: string | undefined; limit: number; order?: Order },
  listed: CursorScope,
  ask: (question: PageQuestion) => Promise<Row[] | Problem>,
  present: (row: Row) => Item,
  { start }: ListOptions = {},
): Promise<Page<Item> | Problem> {
  const { order = 'desc' } = request;
  // A list that is always newest first keeps the cursors that it had before others could be read in both orders.
  const scope = order === 'desc' ? listed : { ...listed, filters: { ...listed.filters, order } };
  const after = request.cursor === undefined ? null : cursors.open(request.cursor, scope);
  if (request.cursor !== undefined && after === null) return invalid([badCursor], 'invalid_cursor');
  const rows = await ask({ after, limit: request.limit + 1, order });
  if (isProblem(rows)) return rows;
  const shown = rows.slice(0, request.limit).filter(({ isBeyondPage }) => isBeyondPage !== true);
  const row = shown.at(-1);
  const hasMore = rows.length > shown.length && row !== undefined;
  const last = row === undefined ? (after ?? start) : { sortKey: row.position, id: row.id };
  const goesOn = last !== undefined && (hasMore || start !== undefined);
  return {
    object: 'list',
    data: shown.map(present),
    has_more: hasMore,
    next_cursor: goesOn ? cursors.seal(last, scope) : null,
  };
}
