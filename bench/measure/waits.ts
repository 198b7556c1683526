import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** What the statements of the workers were doing, each time they were looked at. */
export interface Waits {
  /** Statements that were being executed, over all looks. */
  executing: number;
  /** Those of them that waited for a lock of another session: of a row, a transaction, a table. */
  lock: number;
  /** Those that waited within the server: for a page, a buffer, the log's turn. */
  internal: number;
  /** Those that waited for the disk. */
  disk: number;
}

const everyMs = 20;

/** Looks at pg_stat_activity until `ended` settles. */
export async function sampleWaits(db: Database, applicationName: string, ended: Promise<unknown>): Promise<Waits> {
  const waits: Waits = { executing: 0, lock: 0, internal: 0, disk: 0 };
  let goesOn = true;
  const end = () => {
    goesOn = false;
  };
  ended.then(end, end);
  while (goesOn) {
    const { rows } = await sql<Waits>`
      select count(*) as executing, count(*) filter (where wait_event_type = 'Lock') as lock,
        count(*) filter (where wait_event_type in ('LWLock', 'BufferPin')) as internal,
        count(*) filter (where wait_event_type = 'IO') as disk
      from pg_stat_activity
      where datname = current_database() and application_name = ${applicationName} and state = 'active'`.execute(db);
    for (const name of Object.keys(waits) as (keyof Waits)[]) waits[name] += rows[0]?.[name] ?? 0;
    await pause(everyMs);
  }
  return waits;
}
