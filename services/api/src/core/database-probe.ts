import { createPool, type DatabaseOptions } from '@enterprise-api/shared/ledger';
import { withTimeout } from '@enterprise-api/shared/runtime';

export interface DatabaseProbe {
  /** Resolves when the database has answered. Rejects when it cannot be reached. */
  probe: () => Promise<void>;
  close: () => Promise<void>;
}

/** Longer than any caller waits: the probe closes a connection that has not answered by then. */
const silentForMs = 1_000;
/** Before the pool closes an idle connection: a busy server takes half a second to open one. */
const useEveryMs = 20_000;

/** Asks over a connection of its own, which stays open: a pool whose connections are all in use is no outage. */
export function createDatabaseProbe(options: Omit<DatabaseOptions, 'poolSize' | 'connectWithinMs'>): DatabaseProbe {
  const pool = createPool({ ...options, poolSize: 1, connectWithinMs: silentForMs });
  const probe = async (): Promise<void> => {
    const client = await pool.connect();
    const answer = withTimeout(client.query('select 1'), silentForMs, () => {
      throw new Error('The database did not answer.');
    });
    await answer.then(
      () => client.release(),
      (error) => {
        client.release(true);
        throw error;
      },
    );
  };
  const timer = setInterval(() => void probe().catch(() => undefined), useEveryMs).unref();
  return {
    probe,
    close: async () => {
      clearInterval(timer);
      await pool.end();
    },
  };
}
