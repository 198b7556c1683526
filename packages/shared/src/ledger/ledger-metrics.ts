import { Gauge, type Registry, registerFigures } from '../runtime/index.ts';
import type { Database } from './database.ts';
import type { DatabaseClock } from './database-clock.ts';
import { type LedgerGauge, ledgerGauges, readGauges } from './ledger-figures.ts';
import { registerPools } from './pool-gauges.ts';
import { slowFiguresEveryMs, slowLedgerGauges } from './slow-ledger-figures.ts';

/**
 * Registers the metrics of every process: the ledger's figures, the clock offset and the connection pools.
 *
 * @returns a function that registers the pool of another database under a name
 */
export function registerLedgerMetrics(
  registry: Registry,
  clock: DatabaseClock,
  ledger: Database,
): (pool: string, database: Database) => void {
  const pools = new Map([['ledger', ledger]]);
  const ages = registerGauges(registry, ledger);
  new Gauge({
    name: 'ledger_figures_age_seconds',
    help: 'Time since every gauge of the ledger was read; infinite before that.',
    registers: [registry],
    async collect() {
      this.set(Math.max(...(await Promise.all(ages.map((age) => age())))) / 1_000);
    },
  });
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

/** Reads one table after the other, so that a scrape needs one connection. Returns the age of each table's figures. */
function registerGauges(registry: Registry, ledger: Database): (() => Promise<number>)[] {
  let latest: Promise<unknown> = Promise.resolve();
  const register = (gauges: Readonly<Record<string, LedgerGauge>>, everyMs?: number) => {
    const read = () => {
      const reading = latest.then(() => readGauges(ledger, gauges));
      latest = Promise.allSettled([reading]);
      return reading;
    };
    return registerFigures(registry, gauges, read, everyMs);
  };
  return [
    ...Object.values(ledgerGauges).map((gauges) => register(gauges)),
    ...Object.values(slowLedgerGauges).map((gauges) => register(gauges, slowFiguresEveryMs)),
  ];
}
