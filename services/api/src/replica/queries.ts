import type { Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';
import { endOfLastRecord, parseLsn, type WalPosition } from './wal-position.ts';

/**
 * Up to where the primary has written. Whatever any process has answered before is not behind it: the position of insertion,
 * not of flushing, because a commit that does not wait for the disk is visible before it is flushed.
 *
 * A replica is sent only what is on the primary's disk. Where something is not, as after a fan-out, this statement writes a
 * message that means nothing, whose commit waits for the disk: up to 0.6 s sooner than the server would by itself.
 *
 * @throws when the server is a replica
 */
export async function readWrittenPosition(primary: Database): Promise<WalPosition> {
  const { rows } = await sql<{ lsn: string; file: string }>`
    select lsn::text, pg_walfile_name(lsn) as file, case when lsn > pg_current_wal_flush_lsn() then ${flushed} end
    from pg_current_wal_insert_lsn() as lsn`.execute(primary);
  const [row] = rows;
  if (row === undefined) throw new Error('The primary did not say up to where it has written.');
  return { timeline: Number.parseInt(row.file.slice(0, 8), 16), lsn: endOfLastRecord(parseLsn(row.lsn)) };
}

/** Waits for this disk, and for no replica: a synchronous one may be away, which keeps nobody from reading. */
const flushed = sql`
  set_config('synchronous_commit', 'local', true) || pg_logical_emit_message(true, 'enterprise-api', 'flush')`;

/**
 * Up to where a replica shows what the primary has written; undefined when the server is no replica (any more). It holds for
 * statements that are sent after it, and not for its own transaction's earlier snapshots.
 *
 * The timeline is the one of the replica's last checkpoint: behind its own for some minutes after another server has become
 * the primary, never ahead. A role without special permissions sees nothing newer.
 */
export async function readReplayedPosition(replica: Database): Promise<WalPosition | undefined> {
  const { rows } = await sql<{ lsn: string | null; timeline: number }>`
    select case when pg_is_in_recovery() then pg_last_wal_replay_lsn()::text end as lsn,
      (select timeline_id from pg_control_checkpoint()) as timeline`.execute(replica);
  const [row] = rows;
  return row?.lsn ? { timeline: row.timeline, lsn: parseLsn(row.lsn) } : undefined;
}

/** Names a database server and all of its replicas, for life. */
export async function readSystemIdentifier(db: Database): Promise<string> {
  const { rows } = await sql<{ id: string }>`select system_identifier::text as id from pg_control_system()`.execute(db);
  return rows[0]?.id ?? '';
}
