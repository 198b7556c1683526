import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { writeStateFile } from '../processes/state-file.ts';
import { dropPrivileges } from './account.ts';
import type { OwnPostgres } from './own-postgres.ts';

/** A copy of a cluster's files, taken while it ran. Consistent only with the WAL of the time in which it was taken. */
export interface BaseBackup {
  readonly folder: string;
  /** Of the role, which is in the copy too. */
  readonly password: string;
}

/**
 * What the server does with WAL when it starts on a backup: a standby follows its primary for good, the other replays an
 * archive up to the target that its settings name (`recovery_target_…`), and is then a primary of its own.
 */
export type Recovery = 'standby' | 'target';

/** Folders whose files a backup leaves out: WAL comes from the archive or the primary, the others are made anew. */
const emptyInBackup = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);
const leftOut = /^(postmaster\.(pid|opts)|pgsql_tmp.*|pg_internal\.init.*|(standby|recovery)\.signal)$/;

/**
 * Takes a base backup of a running server into a new folder, as `pg_basebackup` does, which the embedded server lacks. The WAL
 * that the backup needs must be kept: by an archive, or for a standby by `wal_keep_size`.
 */
export async function takeBaseBackup(server: Pick<OwnPostgres, 'url' | 'folder'>, folder: string): Promise<BaseBackup> {
  const client = new Client({ connectionString: server.url, application_name: 'base-backup' });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('base-backup', true)`);
    copyFolder(server.folder, folder);
    const { rows } = await client.query('select labelfile from pg_backup_stop(true)');
    writeFileSync(join(folder, 'backup_label'), rows[0].labelfile, { mode: 0o600 });
  } finally {
    await client.end();
  }
  return { folder, password: decodeURIComponent(new URL(server.url).password) };
}

/** Puts a copy of a backup where {@link startEmbeddedPostgres} looks for its data. */
export function restoreBaseBackup(backup: BaseBackup, dataFolder: string, recovery: Recovery): void {
  const folder = join(dataFolder, 'postgres');
  copyFolder(backup.folder, folder);
  writeFileSync(join(folder, `${recovery === 'standby' ? 'standby' : 'recovery'}.signal`), '');
  dropPrivileges(...everythingIn(folder));
  writeStateFile(join(dataFolder, 'postgres.json'), { password: backup.password, port: 0 });
}

/** Files come and go while the server runs: what is gone when its turn comes is left out, as the WAL allows. */
function copyFolder(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (leftOut.test(entry.name)) continue;
    if (emptyInBackup.has(entry.name)) mkdirSync(target, { mode: 0o700 });
    else if (entry.isDirectory()) copyFolder(source, target);
    else copyIfThere(source, target);
  }
}

function copyIfThere(source: string, target: string): void {
  try {
    copyFileSync(source, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function everythingIn(folder: string): string[] {
  return [folder, ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))];
}
