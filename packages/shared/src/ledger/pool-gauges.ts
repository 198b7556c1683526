import { Gauge, type Registry } from '../runtime/index.ts';
import { type Database, poolOf } from './database.ts';

/** Registers gauges of the connection pools of these databases, by the name that each has as the label `pool`. */
export function registerPools(registry: Registry, databases: Readonly<Record<string, Database>>): void {
  const pools = Object.entries(databases);
  const gauge = (name: string, help: string, show: (gauge: Gauge, pool: string, db: Database) => void) =>
    new Gauge({
      name,
      help,
      labelNames: name === connections ? ['pool', 'state'] : ['pool'],
      registers: [registry],
      collect() {
        for (const [pool, db] of pools) show(this, pool, db);
      },
    });
  gauge(connections, 'Open connections to PostgreSQL.', (shown, pool, db) => {
    const { totalCount, idleCount } = poolOf(db);
    shown.set({ pool, state: 'idle' }, idleCount);
    shown.set({ pool, state: 'used' }, totalCount - idleCount);
  });
  gauge('database_pool_size', 'Connections that the pool may open.', (shown, pool, db) =>
    shown.set({ pool }, poolOf(db).max),
  );
  gauge('database_pool_waiting', 'Statements and transactions that wait for a connection.', (shown, pool, db) =>
    shown.set({ pool }, poolOf(db).waitingCount),
  );
}

const connections = 'database_pool_connections';
