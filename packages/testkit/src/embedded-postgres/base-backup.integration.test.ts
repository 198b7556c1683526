import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { until } from '../until.ts';
import { takeBaseBackup } from './base-backup.ts';
import { startOwnPostgres } from './own-postgres.ts';
import { archiveWal, createWalArchive } from './wal-archive.ts';

async function ask(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text: statement, rowMode: 'array' })).rows.map(([first]) => first);
  } finally {
    await client.end();
  }
}

describe('a base backup of a running server', () => {
  it('is brought up to a restore point by the archive, and no further; a standby of it follows the server', async () => {
    using archive = createWalArchive();
    await using primary = await startOwnPostgres({ settings: { ...archive.archiving, wal_keep_size: '256MB' } });
    await ask(primary.url, `create table noted as select 'before the backup' as what`);
    const backup = await takeBaseBackup(primary, archive.backupFolder);
    await ask(primary.url, `insert into noted values ('after the backup')`);
    await ask(primary.url, `select pg_create_restore_point('here')`);
    await ask(primary.url, `insert into noted values ('after the point')`);
    await archiveWal(primary.url);
    const { hostname, port, username, password } = new URL(primary.url);
    const conninfo = `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`;
    await using standby = await startOwnPostgres({
      settings: { primary_conninfo: conninfo },
      from: { backup, recovery: 'standby' },
    });
    const all = ['after the backup', 'after the point', 'before the backup'];
    const noted = 'select what from noted order by what';
    const follows = { holds: (rows: unknown[]) => rows.length === all.length, withinMs: 30_000 };
    expect(await until('the standby follows', () => ask(standby.url, noted), follows)).toEqual(all);
    expect(await ask(standby.url, 'select pg_is_in_recovery()')).toEqual([true]);
    await standby.stop();
    await primary.crash();
    await using restored = await startOwnPostgres({
      settings: { ...archive.restoring, recovery_target_name: 'here' },
      from: { backup, recovery: 'target' },
    });
    expect(await ask(restored.url, noted)).toEqual(['after the backup', 'before the backup']);
    expect(await ask(restored.url, 'select pg_is_in_recovery()')).toEqual([false]);
  });
});
