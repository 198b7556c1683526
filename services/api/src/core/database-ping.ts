import { createPool, type DatabaseOptions } from '@enterprise-api/shared/ledger';

export interface DatabasePing {
  /** Resolves when the database has answered. Rejects when it cannot be reached. */
  ping: () => Promise<void>;
  close: () => Promise<void>;
}

/** Longer than anybody waits for a ping: what is then still out is on a dead connection, which is thrown away. */
const abandonAfterMs = 1_000;

/** Connections of its own, so that a busy pool is not mistaken for a database that is away. */
export function createDatabasePing(options: Omit<DatabaseOptions, 'poolSize'>): DatabasePing {
  const pool = createPool({ ...options, poolSize: 2 });
  return {
    ping: async () => {
      const client = await pool.connect();
      let broken = false;
      const abandon = setTimeout(() => {
        broken = true;
        client.release(true);
      }, abandonAfterMs);
      try {
        await client.query('select 1');
        if (!broken) client.release();
      } catch (error) {
        if (!broken) client.release(true);
        throw error;
      } finally {
        clearTimeout(abandon);
      }
    },
    close: () => pool.end(),
  };
}
