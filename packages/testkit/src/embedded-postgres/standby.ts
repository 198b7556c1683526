import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { takeBaseBackup } from './base-backup.ts';
import { type OwnPostgres, startOwnPostgres } from './own-postgres.ts';

/** Settings of a primary that is to have standbys: it keeps the WAL that a new one needs. */
export const forStandbys = { wal_keep_size: '256MB' };

/**
 * Starts a standby that streams from a running server.
 *
 * @param primary was started with {@link forStandbys}
 * @param settings of the standby, by name, such as `recovery_min_apply_delay`
 */
export async function startStandby(
  primary: OwnPostgres,
  settings: Readonly<Record<string, string>> = {},
): Promise<OwnPostgres> {
  const place = mkdtempSync(join(tmpdir(), 'enterprise-api-backup-'));
  try {
    const backup = await takeBaseBackup(primary, join(place, 'base'));
    const { hostname, port, username, password } = new URL(primary.url);
    const conninfo = `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`;
    return await startOwnPostgres({
      settings: { primary_conninfo: conninfo, ...settings },
      from: { backup, recovery: 'standby' },
    });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
