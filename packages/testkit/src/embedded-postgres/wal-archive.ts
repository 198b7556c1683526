import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { until } from '../until.ts';
import { dropPrivileges } from './account.ts';

/** A folder to which a server copies its WAL, so that a base backup can be brought up to any later time. */
export interface WalArchive extends Disposable {
  /** A place for base backups beside it. */
  readonly backupFolder: string;
  /** Settings of the server whose WAL is kept. */
  readonly archiving: Readonly<Record<string, string>>;
  /** Settings of a server that is restored from it, with the target in addition (`recovery_target_…`). */
  readonly restoring: Readonly<Record<string, string>>;
}

export function createWalArchive(): WalArchive {
  const folder = mkdtempSync(join(tmpdir(), 'enterprise-api-archive-'));
  const wal = join(folder, 'wal');
  mkdirSync(wal, { mode: 0o700 });
  dropPrivileges(folder, wal);
  return {
    backupFolder: join(folder, 'base'),
    // A segment has its name when it is complete: a server that is killed while it copies one copies it again.
    archiving: {
      archive_mode: 'on',
      archive_command: `cp "%p" "${wal}/%f.part" && mv "${wal}/%f.part" "${wal}/%f"`,
    },
    restoring: { restore_command: `cp "${wal}/%f" "%p"`, recovery_target_action: 'promote' },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Ends the WAL segment under way and waits until it is archived: what was committed before this call can then be restored. */
export async function archiveWal(url: string): Promise<void> {
  const client = new Client({ connectionString: url, application_name: 'archive-wal' });
  await client.connect();
  try {
    const { rows } = await client.query('select pg_walfile_name(pg_switch_wal()) as name');
    const archived = () => client.query('select from pg_stat_archiver where last_archived_wal >= $1', [rows[0].name]);
    const holds = (answer: { rowCount: number | null }) => answer.rowCount === 1;
    await until(`${rows[0].name} is archived`, archived, { holds, withinMs: 60_000 });
  } finally {
    await client.end();
  }
}
