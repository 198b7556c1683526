import { chmodSync } from 'node:fs';
import { createTemporaryFolder } from '../processes/temporary-folder.ts';
import { type BaseBackup, type Recovery, restoreBaseBackup } from './base-backup.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';

/** A PostgreSQL that a test may stop and kill; what was committed outlives both. */
export interface OwnPostgres extends AsyncDisposable {
  readonly url: string;
  readonly version: string;
  /** Where its files are. */
  readonly folder: string;
  /** As an operator stops it: open transactions are rolled back, connections closed, new ones refused. */
  stop(): Promise<void>;
  /** SIGKILL. */
  crash(): Promise<void>;
  /** Starts it again at the same address, after either. */
  start(): Promise<void>;
}

export interface OwnPostgresOptions {
  /** Settings of the server, by name. */
  settings?: Readonly<Record<string, string>>;
  /** Starts on a copy of this backup instead of with an empty cluster. */
  from?: { backup: BaseBackup; recovery: Recovery };
}

export async function startOwnPostgres({ settings, from }: OwnPostgresOptions = {}): Promise<OwnPostgres> {
  const own = createTemporaryFolder('faults');
  const dataFolder = own.path;
  chmodSync(dataFolder, 0o711);
  if (from !== undefined) restoreBaseBackup(from.backup, dataFolder, from.recovery);
  const isStandby = from?.recovery === 'standby';
  const common = { dataFolder, database: 'faults', durable: true, say: () => undefined, isStandby };
  const options = { ...common, ...(settings && { settings }) };
  let server = await startEmbeddedPostgres(options);
  const { url, version, folder } = server;
  return {
    url,
    version,
    folder,
    stop: () => server.stop(),
    crash: async () => {
      server.kill('SIGKILL');
      await server.exited;
    },
    start: async () => {
      server = await startEmbeddedPostgres(options);
      if (server.url !== url) throw new Error(`PostgreSQL came back at another address: ${server.url}`);
    },
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      own[Symbol.dispose]();
    },
  };
}
