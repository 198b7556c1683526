import { sql } from 'kysely';
import type { Database } from './database.ts';

/** The database's clock, the one that due times and partitions go by. */
export async function databaseTime(db: Database): Promise<Date> {
  const answer = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  const row = answer.rows[0];
  if (!row) throw new Error('The database did not tell the time.');
  return row.now;
}

/** An offset beyond this is worth a warning: people would misread the logs, though no due time depends on it. */
const tolerableOffsetMs = 5_000;

/** How far this process's clock is ahead of the database's, in ms, when that is more than 5 s; else null. */
export async function clockOffset(db: Database, now: () => number): Promise<number | null> {
  const asked = now();
  const database = (await databaseTime(db)).getTime();
  const offset = (asked + now()) / 2 - database;
  return Math.abs(offset) > tolerableOffsetMs ? Math.round(offset) : null;
}
