import { type Kysely, type RawBuilder, sql } from 'kysely';

/** The database's clock determines due times and partitions. */
export async function databaseTime<DB>(db: Kysely<DB>): Promise<Date> {
  return new Date(await databaseTimeMs(db));
}

/**
 * Returns milliseconds since 1970, with fractions. Returns a number instead of a Date, because a producer's own
 * database handle may not parse timestamps as a Date.
 */
export async function databaseTimeMs<DB>(db: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ now: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`.execute(db);
  const databaseMs = Number(rows[0]?.now);
  if (Number.isNaN(databaseMs)) throw new Error('The database returned no time.');
  return databaseMs;
}

/** The beginning of a time's `hour`, `day` or other unit in UTC. `date_trunc` with a zone takes twice as long. */
export const startOf = (unit: string | RawBuilder<unknown>, time: RawBuilder<unknown>) =>
  sql`date_trunc(${unit}, ${time} at time zone 'UTC') at time zone 'UTC'`;
