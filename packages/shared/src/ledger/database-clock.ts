import { type Kysely, sql } from 'kysely';
import type { Clock } from '../runtime/clock.ts';

/** The database's clock, asked once a minute and reckoned in between. */
export interface DatabaseClock {
  /** Milliseconds since 1970 by the database's clock. Asks through `db` when its knowledge is old. */
  now<DB>(db: Kysely<DB>): Promise<number>;
}

const refreshAfterMs = 60_000;

export function createDatabaseClock(clock: Clock): DatabaseClock {
  let reference: { database: number; monotonic: number } | undefined;
  return {
    now: async (db) => {
      const monotonic = clock.monotonic();
      if (reference === undefined || monotonic - reference.monotonic > refreshAfterMs) {
        const { rows } = await sql<{ now: number }>`
          select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`.execute(db);
        reference = { database: Number(rows[0]?.now), monotonic: clock.monotonic() };
      }
      return Math.floor(reference.database + clock.monotonic() - reference.monotonic);
    },
  };
}
