import type { Kysely } from 'kysely';
import type { Clock } from '../runtime/clock.ts';
import { databaseTimeMs } from './clock.ts';
import type { Database } from './database.ts';

/**
 * The database's clock, measured now and then and carried on by the monotonic clock in between: a wall clock of this
 * machine that is wrong, or jumps, changes nothing. Until the first measurement `now` is the machine's wall clock.
 */
export interface DatabaseClock extends Clock {
  /** Measures again. Rejects with the database's error; the last measurement stays. */
  measure<DB>(db: Kysely<DB>): Promise<void>;
  /** Like `now`, after measuring through `db` when the last measurement is older than a minute. */
  current<DB>(db: Kysely<DB>): Promise<number>;
  /** How far this machine's wall clock is ahead of the database's, in milliseconds; 0 until the first measurement. */
  offsetMs(): number;
}

/** Clocks of machines drift by some milliseconds in this time. */
const measureAfterMs = 60_000;
/** Half of a round trip is how wrong a measurement can be: a slower one does not replace the one before. */
const slowRoundTripMs = 1_000;

export function createDatabaseClock(clock: Clock): DatabaseClock {
  let measured: { databaseMs: number; atMs: number } | undefined;
  const now = () =>
    measured === undefined ? clock.now() : Math.floor(measured.databaseMs + clock.monotonic() - measured.atMs);
  const measure = async <DB>(db: Kysely<DB>) => {
    const askedMs = clock.monotonic();
    const databaseMs = await databaseTimeMs(db);
    const answeredMs = clock.monotonic();
    if (measured !== undefined && answeredMs - askedMs > slowRoundTripMs) return;
    measured = { databaseMs, atMs: (askedMs + answeredMs) / 2 };
  };
  return {
    now,
    monotonic: clock.monotonic,
    measure,
    current: async (db) => {
      if (measured === undefined || clock.monotonic() - measured.atMs > measureAfterMs) await measure(db);
      return now();
    },
    offsetMs: () => (measured === undefined ? 0 : clock.now() - now()),
  };
}

/**
 * Measures once a minute. While the database is away the last measurement stands.
 *
 * @returns ends the measuring
 */
export function keepMeasuring(clock: DatabaseClock, db: Database, onError: (error: unknown) => void): () => void {
  const timer = setInterval(() => void clock.measure(db).catch(onError), measureAfterMs).unref();
  return () => clearInterval(timer);
}
