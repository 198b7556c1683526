import type { Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** The position up to which the primary has flushed its write-ahead log to disk. */
export interface FlushedPosition {
  /** The database cluster and its timeline. Positions in different timelines are not comparable. */
  timeline: string;
  lsn: string;
}

/** @throws if the server is a replica */
export async function readFlushedPosition(primary: Database): Promise<FlushedPosition> {
  const { rows } = await sql<FlushedPosition>`
    select lsn::text, system_identifier || ' ' || ('x' || left(pg_walfile_name(lsn), 8))::bit(32)::int as timeline
    from pg_current_wal_flush_lsn() as lsn, pg_control_system()`.execute(primary);
  return rows[0] as FlushedPosition;
}

/**
 * Whether the server is a replica that has replayed the log up to a position. The replica's timeline comes from its
 * last checkpoint.
 */
export async function hasReplayed(replica: Database, { timeline, lsn }: FlushedPosition): Promise<boolean> {
  const { rows } = await sql`
    select from pg_control_system(), pg_control_checkpoint()
    where pg_is_in_recovery() and pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn
      and system_identifier || ' ' || timeline_id = ${timeline}`.execute(replica);
  return rows.length > 0;
}
