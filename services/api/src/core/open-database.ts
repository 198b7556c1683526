import { createDatabase, type DatabaseOptions } from '@enterprise-api/shared/ledger';
import { createDatabaseHealth } from './database-health.ts';
import { createDatabasePing } from './database-ping.ts';
import type { Foundation } from './foundation.ts';

/** Connections of the process to each server. */
export const poolSize = 10;

/** Opens a pool, and asks over connections of its own whether the server answers. */
export function openDatabase({ clock, closers }: Foundation, settings: Omit<DatabaseOptions, 'poolSize'>) {
  const db = createDatabase({ ...settings, poolSize });
  closers.add('database', () => db.destroy());
  const pinger = createDatabasePing(settings);
  closers.add('database ping', pinger.close);
  const health = createDatabaseHealth({ ping: pinger.ping, clock });
  closers.add('database health', health.close);
  return { db, health };
}
