import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from './embedded-postgres.ts';

/** A PostgreSQL that a test may stop and kill; what was committed outlives both. */
export interface OwnPostgres extends AsyncDisposable {
  readonly url: string;
  readonly version: string;
  /** As an operator stops it: open transactions are rolled back, connections closed, new ones refused. */
  stop(): Promise<void>;
  /** SIGKILL. */
  crash(): Promise<void>;
  /** Starts it again at the same address, after either. */
  start(): Promise<void>;
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'enterprise-api-faults-'));
  chmodSync(dataFolder, 0o711);
  const options = { dataFolder, database: 'faults', durable: true, say: () => undefined };
  let server = await startEmbeddedPostgres(options);
  const { url, version } = server;
  return {
    url,
    version,
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
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}
