import type { Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** What the ledger occupies at a moment, after a vacuum. */
export interface LedgerSize {
  /** Bytes of each table with its TOAST and of its indexes, partitions added up: `events`, `events_indexes`, … */
  tables: Record<string, number>;
  /** The position in the write-ahead log. */
  wal: number;
  /** Rows of the attempts that have one: those that failed. */
  attempts: number;
}

/** Vacuums, so that what updates left behind is used again, and reads the sizes. The log's position is read before that. */
export async function ledgerSize(db: Database): Promise<LedgerSize> {
  const { rows: logs } = await sql<{ wal: number }>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal`.execute(db);
  await sql`vacuum`.execute(db);
  const { rows } = await sql<{ name: string; bytes: number; indexes: number }>`
    select coalesce(pg_partition_root(oid), oid)::regclass::text as name,
      sum(pg_table_size(oid))::float8 as bytes, sum(pg_indexes_size(oid))::float8 as indexes
    from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace group by 1`.execute(db);
  const { rows: counts } = await sql<{ attempts: number }>`select count(*)::float8 as attempts from attempts`.execute(
    db,
  );
  return {
    tables: Object.fromEntries(
      rows.flatMap(({ name, bytes, indexes }) => [
        [name, bytes],
        [`${name}_indexes`, indexes],
      ]),
    ),
    wal: logs[0]?.wal ?? Number.NaN,
    attempts: counts[0]?.attempts ?? Number.NaN,
  };
}

/** By how many bytes a table, or a table's indexes, has grown. */
export function grown(before: LedgerSize, after: LedgerSize, name: string): number {
  return (after.tables[name] ?? Number.NaN) - (before.tables[name] ?? 0);
}
