import { createDatabase, type DatabaseOptions } from '@enterprise-api/shared/ledger';
import { createDatabaseHealth } from './database-health.ts';
import { createDatabaseProbe } from './database-probe.ts';
import type { Foundation } from './foundation.ts';

/** Connections of the process to each server. */
export const poolSize = 10;

/** Opens a pool, and asks over a connection of its own whether the server answers. */
export function openDatabase({ closers }: Foundation, settings: Omit<DatabaseOptions, 'poolSize'>) {
  const db = createDatabase({ ...settings, poolSize });
  closers.add('database', () => db.destroy());
  const { probe, close } = createDatabaseProbe(settings);
  closers.add('database probe', close);
  const health = createDatabaseHealth(probe);
  return { db, health };
}
