import { type RawBuilder, sql } from 'kysely';

export interface LooseIndexScan {
  /** The name of the common table expression. The statement that contains it must begin with `with recursive`. */
  name: string;
  table: string;
  /** A UUID column that is the first column of an index on the rows that match `where`. */
  column: string;
  where?: RawBuilder<unknown>;
  /** Returns only values greater than this one, in ascending order. */
  after: string;
  limit: number | RawBuilder<unknown>;
}

/**
 * Selects the distinct values of a column as a common table expression with that column. Each value costs one index
 * probe, however many rows have it. `select distinct` would read every row.
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
