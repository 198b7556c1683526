import { createPool, type DatabaseOptions } from '@enterprise-api/shared/ledger';
import { createLoop, withTimeout } from '@enterprise-api/shared/runtime';

export interface DatabasePing {
  /** Resolves when the database has answered. Rejects when it cannot be reached. */
  ping: () => Promise<void>;
  close: () => Promise<void>;
}

export interface DatabasePingOptions extends Omit<DatabaseOptions, 'poolSize' | 'connectWithinMs'> {
  /** Before the pool closes an idle connection, and before most firewalls forget it. */
  useEveryMs?: number;
}

/** The two functions of a pooled connection that a ping needs. */
interface Connection {
  query(text: string): Promise<unknown>;
  release(destroy?: boolean): void;
}

/** Longer than any caller waits for a ping: a connection that has not answered by then is dead, and is closed. */
const abandonAfterMs = 1_000;
/** A connection that is open answers within milliseconds, one that is opened takes a busy server half a second. */
const askAgainAfterMs = 150;
/**
 * Pings over a pool of its own, so that a busy pool is not mistaken for a database that is down. One connection is always
 * open. Where that one does not answer at once, the ping asks over a second one as well: a connection may be dead, or its
 * server process may wait for a processor, while the database is well.
 */
export function createDatabasePing({ useEveryMs = 20_000, ...options }: DatabasePingOptions): DatabasePing {
  const pool = createPool({ ...options, poolSize: 2, connectWithinMs: abandonAfterMs });
  const ask = async () => pingOver(await pool.connect());
  const keepOpen = createLoop({
    run: async () => {
      await ask();
      return useEveryMs;
    },
    // Those who ask whether the database answers are told.
    onError: () => undefined,
    delayAfterErrorMs: useEveryMs,
  });
  keepOpen.start();
  return {
    ping: async () => {
      const first = ask();
      const hasAnswered = first.then(
        () => true,
        () => false,
      );
      if (!(await withTimeout(hasAnswered, askAgainAfterMs, () => false))) await Promise.any([first, ask()]);
    },
    close: async () => void (await Promise.all([keepOpen.stop(), pool.end()])),
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
