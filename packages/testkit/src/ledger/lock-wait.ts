import type { Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';
import { until } from '../until.ts';

/** Resolves when a statement waits for a lock in this database. */
export async function untilLockWait(db: Database): Promise<void> {
  const waiting = sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  await until('a statement waits for a lock', async () => (await waiting.execute(db)).rows.length > 0, { everyMs: 5 });
}
