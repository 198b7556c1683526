import { type Kysely, sql } from 'kysely';

/** The database's clock, the one that due times and partitions go by. */
export async function databaseTime<DB>(db: Kysely<DB>): Promise<Date> {
  return new Date(await databaseTimeMs(db));
}

/**
 * The same in milliseconds since 1970, with fractions. A number, because a producer's own handle may parse timestamps
 * into something else than a Date.
 */
export async function databaseTimeMs<DB>(db: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ now: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`.execute(db);
  const databaseMs = Number(rows[0]?.now);
  if (Number.isNaN(databaseMs)) throw new Error('The database did not tell the time.');
  return databaseMs;
}
