import { Gauge, type Registry, registerFigures } from '../runtime/index.ts';
import type { Database } from './database.ts';
import type { DatabaseClock } from './database-clock.ts';
import { ledgerFigures, ledgerGauges } from './ledger-figures.ts';
import { registerPools } from './pool-gauges.ts';
import { slowFiguresEveryMs, slowLedgerFigures, slowLedgerGauges } from './slow-ledger-figures.ts';

/**
 * Registers the ledger's figures, the clock offset and the connection pools for every process.
 *
 * @returns a function that registers the pool of another database under a name
 */
export function registerLedgerMetrics(
  registry: Registry,
  clock: DatabaseClock,
  ledger: Database,
): (pool: string, database: Database) => void {
  const pools = new Map([['ledger', ledger]]);
  registerFigures(registry, ledgerGauges, () => ledgerFigures(ledger));
  registerFigures(registry, slowLedgerGauges, () => slowLedgerFigures(ledger), slowFiguresEveryMs);
  registerPools(registry, pools);
  new Gauge({
    name: 'database_clock_offset_seconds',
    help: "How far this machine's wall clock is ahead of the database's. Nothing sent or stored depends on it.",
    registers: [registry],
    collect() {
      this.set(clock.offsetMs() / 1_000);
    },
  });
  return (pool, database) => void pools.set(pool, database);
}
