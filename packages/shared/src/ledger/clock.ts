import { sql } from 'kysely';
import type { Database } from './database.ts';

/** The database's clock, the one that due times and partitions go by. */
export async function databaseTime(db: Database): Promise<Date> {
  const answer = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  const row = answer.rows[0];
  if (!row) throw new Error('The database did not tell the time.');
  return row.now;
}
