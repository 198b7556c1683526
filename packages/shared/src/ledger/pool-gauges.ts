import { Gauge, type Registry } from '../runtime/index.ts';
import { type Database, poolFiguresOf } from './database.ts';

/**
 * Registers gauges of the connection pools. The map's keys become the label `pool`. The gauges include databases that
 * are added to the map later.
 */
export function registerPools(registry: Registry, databases: ReadonlyMap<string, Database>): void {
  const gauge = (name: string, help: string, show: (gauge: Gauge, pool: string, db: Database) => void) =>
    new Gauge({
      name,
      help,
      labelNames: name === connections ? ['pool', 'state'] : ['pool'],
      registers: [registry],
      collect() {
        for (const [pool, db] of databases) show(this, pool, db);
      },
    });
  gauge(connections, 'Open connections to PostgreSQL.', (shown, pool, db) => {
    const { idle, used } = poolFiguresOf(db);
    shown.set({ pool, state: 'idle' }, idle);
    shown.set({ pool, state: 'used' }, used);
  });
  gauge('database_pool_size', 'Connections that the pool may open.', (shown, pool, db) =>
    shown.set({ pool }, poolFiguresOf(db).max),
  );
  gauge('database_pool_waiting', 'Statements and transactions that wait for a connection.', (shown, pool, db) =>
    shown.set({ pool }, poolFiguresOf(db).waiting),
  );
}

const connections = 'database_pool_connections';
