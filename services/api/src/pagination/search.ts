import { type Database, type DatabaseTransaction, isStatementTimeout } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { type Problem, problem } from '../http/problem.ts';
import type { PageQuestion, Position, Positioned } from './paging.ts';
import { limitStatements, lockSearch } from './queries.ts';

/** Which rows a search keeps. No index finds them, so the search reads the list row by row. */
export interface Search<Row> {
  matches: (row: Row) => boolean;
  /** The position before every row, in page order. */
  beginning: Position;
  /** How many rows one statement reads. */
  rowsAtOnce?: number;
  /** A page ends with the row that reaches this size. */
  maxBytes?: number;
  sizeOf?: (row: Row) => number;
  withinMs?: number;
}

export interface Found<Row> {
  rows: Row[];
  /** The last row that was compared, or the last row of a full page. Undefined if no row was compared. */
  searchedTo: Row | undefined;
  /** If the time was over before the first row, the next page begins here. */
  beginning?: Position;
  /** Whether rows after `searchedTo` were not compared. */
  hasMore: boolean;
}

const searchMs = 1_000;

const tooManySearches = problem('rate_limited', {
  message: 'Another search of this organization is running. Wait for its answer, then repeat the request.',
  retryAfterSeconds: 1,
});

/**
 * Reads rows in page order until the page is full, the list ends, or a second is over. An organization runs one search
 * at a time.
 *
 * @param read returns the list's next rows; fewer than asked for if the list ends, or if one of them `isBeyondPage`
 */
export async function search<Row extends Positioned>(
  db: Database,
  organizationId: Uuid,
  page: PageQuestion,
  read: (from: Database, page: PageQuestion) => Promise<Row[]>,
  options: Search<Row>,
): Promise<Found<Row> | Problem> {
  const { matches, beginning, rowsAtOnce = 1_000, maxBytes = Number.POSITIVE_INFINITY, sizeOf = () => 0 } = options;
  const found: Row[] = [];
  let searchedTo: Row | undefined;
  const run = async (trx: DatabaseTransaction): Promise<Found<Row> | Problem> => {
    if (!(await lockSearch(trx, organizationId))) return tooManySearches;
    const endsAt = performance.now() + (options.withinMs ?? searchMs);
    let bytes = 0;
    for (;;) {
      const after = searchedTo === undefined ? page.after : { sortKey: searchedTo.position, id: searchedTo.id };
      await limitStatements(trx, endsAt - performance.now());
      const rows = await read(trx, { ...page, after, limit: rowsAtOnce });
      for (const row of rows) {
        if (row.isBeyondPage === true) break;
        if (matches(row)) {
          if (found.length === page.limit - 1 || bytes >= maxBytes) {
            return { rows: found, searchedTo: found.at(-1), hasMore: true };
          }
          found.push(row);
          bytes += sizeOf(row);
        }
        searchedTo = row;
      }
      const isEnd = rows.length < rowsAtOnce && rows.at(-1)?.isBeyondPage !== true;
      if (isEnd || performance.now() > endsAt) return { rows: found, searchedTo, hasMore: !isEnd };
    }
  };
  try {
    return await db.transaction().execute(run);
  } catch (error) {
    if (isStatementTimeout(error)) return { rows: found, searchedTo, beginning, hasMore: true };
    throw error;
  }
}

/** Reads rows in one statement. Returns undefined after half the time of a search: the caller then searches instead. */
export async function readAtOnce<Row>(
  db: Database,
  read: (from: Database) => Promise<Row[]>,
): Promise<Row[] | undefined> {
  try {
    return await db.transaction().execute(async (trx) => {
      await limitStatements(trx, searchMs / 2);
      return read(trx);
    });
  } catch (error) {
    if (isStatementTimeout(error)) return undefined;
    throw error;
  }
}
