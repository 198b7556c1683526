import type { Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** Bytes on disk of everything in the ledger, indexes and TOAST with it. */
export async function ledgerBytes(db: Database): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select sum(pg_total_relation_size(oid))::float8 as bytes from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace`.execute(db);
  return rows[0]?.bytes ?? Number.NaN;
}
