import { createDatabase, createPool, type DatabaseOptions } from '@enterprise-api/shared/ledger';
import { withTimeout } from '@enterprise-api/shared/runtime';
import { createDatabaseHealth, currentSignal } from './database-health.ts';
import type { Foundation } from './foundation.ts';

/** Connections per process and database server. */
export const poolSize = 10;

type Settings = Omit<DatabaseOptions, 'poolSize'>;

export function openServer({ closers }: Foundation, name: string, settings: Settings, withinMs?: number) {
  const db = createDatabase({ ...settings, poolSize, signal: currentSignal });
  closers.add(name, () => db.destroy(), withinMs);
  return db;
}

export function openDatabase(foundation: Foundation, settings: Settings) {
  const { closers } = foundation;
  const db = openServer(foundation, 'database', settings);
  const { probe, close } = createDatabaseProbe(settings);
  closers.add('database probe', close);
  return { db, ...createDatabaseHealth(probe) };
}

export interface DatabaseProbe {
  probe: () => Promise<void>;
  close: () => Promise<void>;
}

/** The probe closes a connection that has not answered within this time. Its callers give up earlier. */
const silentForMs = 1_000;
/**
 * Probe this often, so that the pool never closes the idle connection: a busy server takes half a second to open
 * another.
 */
const useEveryMs = 20_000;

/** Probes over its own permanent connection, because a fully used pool is not an outage. */
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
