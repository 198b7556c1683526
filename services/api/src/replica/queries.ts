import type { Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** Where the write-ahead log of the primary ends on its disk. */
export interface FlushedPosition {
  /** The database cluster and its timeline: positions of different ones cannot be compared. */
  timeline: string;
  lsn: string;
}

/** @throws when the server is a replica */
export async function readFlushedPosition(primary: Database): Promise<FlushedPosition> {
  const { rows } = await sql<FlushedPosition>`
    select lsn::text, system_identifier || ' ' || ('x' || left(pg_walfile_name(lsn), 8))::bit(32)::int as timeline
    from pg_current_wal_flush_lsn() as lsn, pg_control_system()`.execute(primary);
  return rows[0] as FlushedPosition;
}

/** Whether a server is a replica that shows everything up to a position. Its timeline is the one of its last checkpoint. */
export async function hasReplayed(replica: Database, { timeline, lsn }: FlushedPosition): Promise<boolean> {
  const { rows } = await sql`
    select from pg_control_system(), pg_control_checkpoint()
    where pg_is_in_recovery() and pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn
      and system_identifier || ' ' || timeline_id = ${timeline}`.execute(replica);
  return rows.length > 0;
}
