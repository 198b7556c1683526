import type { Kysely } from 'kysely';
import type { Clock } from '../runtime/clock.ts';
import { databaseTimeMs } from './clock.ts';
import type { Database } from './database.ts';

export type DatabaseClock = ReturnType<typeof createDatabaseClock>;

/** Repeat a measurement after this time. Meanwhile machine clocks drift by a few milliseconds. */
const measureAfterMs = 60_000;
/** A measurement with a longer round trip may be wrong by half of it, and replaces no earlier measurement. */
const slowRoundTripMs = 1_000;

/**
 * The database's clock, measured regularly and advanced by this machine's monotonic clock. Until the first measurement,
 * `now` returns the machine's wall clock. After it, a wrong or jumping wall clock has no effect.
 */
export function createDatabaseClock(clock: Clock) {
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
    /** Measures through `db`. If that fails, rejects with the database's error and keeps the last measurement. */
    measure,
    /** If no measurement is younger than a minute, measures through `db`. Then returns `now`. */
    current: async <DB>(db: Kysely<DB>): Promise<number> => {
      if (measured === undefined || clock.monotonic() - measured.atMs > measureAfterMs) await measure(db);
      return now();
    },
    /** How far this machine's wall clock is ahead of the database's; 0 until the first measurement. */
    offsetMs: () => (measured === undefined ? 0 : clock.now() - now()),
  };
}

/**
 * Measures once a minute. While the database is unavailable, the last measurement stays in use.
 *
 * @returns a function that stops measuring
 */
export function keepMeasuring(clock: DatabaseClock, db: Database, onError: (error: unknown) => void): () => void {
  const timer = setInterval(() => void clock.measure(db).catch(onError), measureAfterMs).unref();
  return () => clearInterval(timer);
}
