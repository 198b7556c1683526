import type { Order, Page } from '@enterprise-api/shared/contracts';
import { invalid, type Problem } from '../core/problem.ts';
import type { CursorScope, Cursors, Position } from './cursor.ts';

/** A row of a list's query. */
export interface Positioned {
  id: string;
  /** `created_at` with its microseconds, as {@link Position} wants it. */
  position: string;
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

/**
 * Answers a page of a list: opens the cursor, reads one row more than the page holds, seals the next cursor.
 *
 * @param ask returns rows in the order of the question, after the given position, at most `limit`
 */
export async function paginate<Row extends Positioned, Item>(
  cursors: Cursors,
  request: { cursor?: string | undefined; limit: number; order?: Order },
  listed: CursorScope,
  ask: (question: PageQuestion) => Promise<Row[]>,
  present: (row: Row) => Item,
): Promise<Page<Item> | Problem> {
  const { order = 'desc' } = request;
  // A list that is always newest first keeps the cursors that it had before others could be read in both orders.
  const scope = order === 'desc' ? listed : { ...listed, filters: { ...listed.filters, order } };
  const after = request.cursor === undefined ? null : cursors.open(request.cursor, scope);
  if (request.cursor !== undefined && after === null) return invalid([badCursor], 'invalid_cursor');
  const rows = await ask({ after, limit: request.limit + 1, order });
  const shown = rows.slice(0, request.limit);
  const last = shown.at(-1);
  const hasMore = rows.length > shown.length && last !== undefined;
  return {
    object: 'list',
    data: shown.map(present),
    has_more: hasMore,
    next_cursor: hasMore ? cursors.seal({ createdAt: last.position, id: last.id }, scope) : null,
  };
}
