import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** Resolves when somebody waits for a lock in this database. */
export async function untilSomebodyWaits(db: Database): Promise<void> {
  for (;;) {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    if (rows.length > 0) return;
    await pause(5);
  }
}
