import { type AliasedRawBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { PageQuestion } from './paging.ts';

/** Returns the column as UTC text with microseconds, whatever the session's time zone. */
export function positionOf(column: string): AliasedRawBuilder<string, 'position'> {
  const utc = sql<string>`to_char(${sql.ref(column)} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  return utc.as('position');
}

/** Matches the rows after a position, or all rows without one. An index can serve the row-value comparison. */
export function isAfter(page: PageQuestion, table?: string): RawBuilder<SqlBool> {
  if (page.after === null) return sql<SqlBool>`true`;
  const { sortKey, id } = page.after;
  const column = (name: string) => sql.ref(table === undefined ? name : `${table}.${name}`);
  const isBeyond = page.order === 'asc' ? sql`>` : sql`<`;
  return sql<SqlBool>`(${column('created_at')}, ${column('id')}) ${isBeyond} (${sortKey}::timestamptz, ${id}::uuid)`;
}
