import { type RawBuilder, sql } from 'kysely';

export interface LooseIndexScan {
  /** Of the common table expression; the statement begins with `with recursive`. */
  name: string;
  table: string;
  /** A UUID column that an index on the rows of `where` begins with. */
  column: string;
  where?: RawBuilder<unknown>;
  /** Values are visited in their order, from behind this one. */
  after: string;
  /** Values at most; or an expression, such as a sub-select. */
  limit: number | RawBuilder<unknown>;
}

/**
 * The distinct values of a column, as a common table expression with that column: each value costs one probe of the index,
 * however many rows have it. `select distinct` reads all of them.
 */
export function looseIndexScan({ name, table, column, where, after, limit }: LooseIndexScan): RawBuilder<unknown> {
  const [scan, value] = [sql.id(name), sql.id(column)];
  const firstBehind = (bound: RawBuilder<unknown>) => sql`
      select ${value} from ${sql.table(table)} where ${where ?? sql`true`} and ${value} > ${bound} order by ${value} limit 1`;
  return sql`${scan} as (
    select first.${value}, 1 as visited from (${firstBehind(sql`${after}::uuid`)}) first
    union all
    select next.${value}, ${scan}.visited + 1 from ${scan} cross join lateral (${firstBehind(sql`${scan}.${value}`)}) next
    where ${scan}.visited < ${limit}
  )`;
}
