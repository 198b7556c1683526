import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Order, Page } from '@enterprise-api/shared/contracts';
import type { KeyRing } from '@enterprise-api/shared/security';
import { invalid, isProblem, type Problem } from '../http/problem.ts';

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

/**
 * Answers a page of a list: opens the cursor, reads one row more than the page holds, seals the next cursor.
 *
 * @param start the place before the first row, of a list that grows at its end: every page then has a next cursor
 * @param ask returns rows in the order of the question, after the given position, at most `limit`; or why there are none
 */
export async function paginate<Row extends Positioned, Item>(
  cursors: Cursors,
  request: { cursor?: string | undefined; limit: number; order?: Order },
  listed: CursorScope,
  ask: (question: PageQuestion) => Promise<Row[] | Problem>,
  present: (row: Row) => Item,
  start?: Position,
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

/** Where a row stands in its list: by its sort key, and among rows with the same one by its id. */
export interface Position {
  /** `created_at` as text, because a Date has no microseconds; of an event that is read in both orders, its position. */
  sortKey: string;
  /** UUID */
  id: string;
}

/** A cursor is valid for one list of one organization with the same filters. */
export interface CursorScope {
  list: string;
  organizationId: string | null;
  filters: Readonly<Record<string, unknown>>;
}

export type Cursors = ReturnType<typeof createCursors>;

const macBytes = 16;
const positionPattern =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z|\d{1,15}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/**
 * Makes opaque cursors: the position, and a MAC over the position and its scope. The MAC keys are derived from the key
 * ring. The first one signs; cursors signed with the others stay valid while those are in the ring.
 */
export function createCursors(ring: KeyRing) {
  const keys = ring.map(({ key }) => Buffer.from(hkdfSync('sha256', key, '', 'enterprise-api list cursor', 32)));
  const macOf = (key: Buffer, position: string, scope: CursorScope) => {
    const text = JSON.stringify([position, scope.list, scope.organizationId, sorted(scope.filters)]);
    return createHmac('sha256', key).update(text).digest().subarray(0, macBytes);
  };
  return {
    seal: ({ sortKey, id }: Position, scope: CursorScope): string => {
      const position = `${sortKey} ${id}`;
      const mac = macOf(keys[0] as Buffer, position, scope);
      return Buffer.concat([mac, Buffer.from(position)]).toString('base64url');
    },
    /** The position, or null for any text that was not sealed for this scope. */
    open: (cursor: string, scope: CursorScope): Position | null => {
      const bytes = Buffer.from(cursor, 'base64url');
      // Decoding ignores characters that are not base64url, so the text must be exactly what encoding gives.
      if (bytes.length <= macBytes || bytes.toString('base64url') !== cursor) return null;
      const position = bytes.subarray(macBytes).toString('latin1');
      const mac = bytes.subarray(0, macBytes);
      if (!keys.some((key) => timingSafeEqual(mac, macOf(key, position, scope)))) return null;
      const [, sortKey, id] = positionPattern.exec(position) ?? [];
      return sortKey !== undefined && id !== undefined ? { sortKey, id } : null;
    },
  };
}

/** The same text for the same filters, whatever their order and the order of repeated values. */
function sorted(filters: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, unknown] => [name, Array.isArray(value) ? [...new Set(value)].sort() : value])
    .sort(([left], [right]) => (left < right ? -1 : 1));
}
