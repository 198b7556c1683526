import { createPool, type DatabaseOptions } from '@enterprise-api/shared/ledger';

export interface DatabasePing {
  /** Resolves when the database has answered. Rejects when it cannot be reached. */
  ping: () => Promise<void>;
  close: () => Promise<void>;
}

/** The two functions of a pooled connection that a ping needs. */
interface Connection {
  query(text: string): Promise<unknown>;
  release(destroy?: boolean): void;
}

/** Longer than any caller waits for a ping: a connection that has not answered by then is dead, and is closed. */
const abandonAfterMs = 1_000;

/** Pings over a pool of its own, so that a busy pool is not mistaken for a database that is down. */
export function createDatabasePing(options: Omit<DatabaseOptions, 'poolSize'>): DatabasePing {
  const pool = createPool({ ...options, poolSize: 2 });
  return {
    ping: async () => pingOver(await pool.connect()),
    close: () => pool.end(),
  };
}

async function pingOver(client: Connection): Promise<void> {
  let abandoned = false;
  const abandonTimer = setTimeout(() => {
    abandoned = true;
    client.release(true);
  }, abandonAfterMs);
  try {
    await client.query('select 1');
    if (!abandoned) client.release();
  } catch (error) {
    if (!abandoned) client.release(true);
    throw error;
  } finally {
    clearTimeout(abandonTimer);
  }
}
