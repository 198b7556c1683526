import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Order, Page } from '@enterprise-api/shared/contracts';
import { type KeyRing, macKeys } from '@enterprise-api/shared/security';
import { invalid, isProblem, type Problem } from '../http/problem.ts';
import type { Found } from './search.ts';

export interface Positioned {
  id: string;
  position: string;
  /** Only for lists that can be searched. */
  created_at?: Date;
  /** True if the page ends before this row, because with this row the page would be too large. */
  isBeyondPage?: boolean;
}

/** `limit` is one row more than the page, to detect a further page. */
export interface PageQuestion {
  after: Position | null;
  limit: number;
  order: Order;
}

const badCursor = {
  location: 'query',
  path: 'cursor',
  code: 'invalid_cursor',
  message: 'belongs to another list or other filters',
} as const;

/**
 * Opens the cursor, reads one row more than the page holds, and seals the next cursor.
 *
 * @param start position before the first row of a list that grows at its end. Every page then has a next cursor.
 * @param ask returns at most `limit` rows after the position, in page order; or what a search found; or a problem
 */
export async function paginate<Row extends Positioned, Item>(
  cursors: Cursors,
  request: { cursor?: string | undefined; limit: number; order?: Order },
  listed: CursorScope,
  ask: (question: PageQuestion) => Promise<Row[] | Found<Row> | Problem>,
  present: (row: Row) => Item,
  start?: Position,
): Promise<Page<Item> | Problem> {
  const { order = 'desc' } = request;
  // For newest first, the scope contains no order, so that cursors of older versions stay valid.
  const scope = order === 'desc' ? listed : { ...listed, filters: { ...listed.filters, order } };
  const after = request.cursor === undefined ? null : cursors.open(request.cursor, scope);
  if (request.cursor !== undefined && after === null) return invalid([badCursor], 'invalid_cursor');
  const answer = await ask({ after, limit: request.limit + 1, order });
  if (isProblem(answer)) return answer;
  const { rows, searchedTo, beginning, hasMore } = Array.isArray(answer) ? pageOf(answer, request.limit) : answer;
  const last =
    searchedTo === undefined ? (after ?? start ?? beginning) : { sortKey: searchedTo.position, id: searchedTo.id };
  const goesOn = last !== undefined && (hasMore || start !== undefined);
  return {
    object: 'list',
    data: rows.map(present),
    has_more: hasMore,
    next_cursor: goesOn ? cursors.seal(last, scope) : null,
    ...(!Array.isArray(answer) && { searched_until: (hasMore && searchedTo?.created_at?.toISOString()) || null }),
  };
}

function pageOf<Row extends Positioned>(rows: Row[], limit: number): Found<Row> {
  const shown = rows.slice(0, limit).filter(({ isBeyondPage }) => isBeyondPage !== true);
  const searchedTo = shown.at(-1);
  return { rows: shown, searchedTo, hasMore: rows.length > shown.length && searchedTo !== undefined };
}

/** Position of a row: its sort key, and its id among rows with the same key. */
export interface Position {
  /** `created_at` as text, because a Date has no microseconds. For events, the event's position. */
  sortKey: string;
  id: string;
}

/** A cursor is valid only for one list of one organization with the same filters. */
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
 * Creates opaque cursors. A cursor contains a position, and a MAC over the position and its scope. The MAC keys are
 * derived from the key ring. The first key signs. Cursors signed with other keys stay valid while the ring contains
 * these keys.
 */
export function createCursors(ring: KeyRing) {
  const keys = macKeys(ring, 'list cursor');
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
    /** Returns null for any text that was not sealed for this scope. */
    open: (cursor: string, scope: CursorScope): Position | null => {
      const bytes = Buffer.from(cursor, 'base64url');
      // Decoding ignores characters outside base64url, so the text must equal its own re-encoding.
      if (bytes.length <= macBytes || bytes.toString('base64url') !== cursor) return null;
      const position = bytes.subarray(macBytes).toString('latin1');
      const mac = bytes.subarray(0, macBytes);
      if (!keys.some((key) => timingSafeEqual(mac, macOf(key, position, scope)))) return null;
      const [, sortKey, id] = positionPattern.exec(position) ?? [];
      return sortKey !== undefined && id !== undefined ? { sortKey, id } : null;
    },
  };
}

/** Returns equal results for equal filters, whatever the order of filters and of repeated values. */
function sorted(filters: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, unknown] => [name, Array.isArray(value) ? [...new Set(value)].sort() : value])
    .sort(([left], [right]) => (left < right ? -1 : 1));
}
