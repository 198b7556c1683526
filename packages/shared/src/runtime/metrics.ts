import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { droppedLogLines } from './log-output.ts';
import { withTimeout } from './timeout.ts';

export { Histogram, type Registry } from 'prom-client';
export { Counter, Gauge };

/** The default of 10 ms woke each process 100 times a second: a quarter of what an idle system cost. */
const eventLoopLagEveryMs = 100;

/** A registry for one service, with the metrics of the process. */
export function createMetrics(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopLagEveryMs });
  new Counter({
    name: 'log_lines_dropped_total',
    help: 'Log lines left out because standard output was not read.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(droppedLogLines());
    },
  });
  return registry;
}

/** Name and help text of each gauge, by the name of its figure. */
export type GaugeDefinitions<Figures> = { readonly [Figure in keyof Figures]: { name: string; help: string } };

/** Figures that cost a query are read at most this often, however often the metrics are scraped. */
const refreshAfterMs = 10_000;
const readWithinMs = 1_000;

/**
 * Registers gauges for figures that are read together when the metrics are scraped. While reading fails, as during an
 * outage of the database, the scrape shows the latest figures instead of failing.
 */
export function registerFigures<Figures extends Record<keyof Figures, number>>(
  registry: Registry,
  definitions: GaugeDefinitions<Figures>,
  read: () => Promise<Figures>,
): void {
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const names = Object.keys(definitions) as (keyof Figures)[];
  const refresh = async () => {
    const figures = await read();
    readAt = performance.now();
    for (const name of names) gauges.get(name)?.set(figures[name]);
  };
  const refreshed = (): Promise<void> => {
    if (performance.now() - readAt < refreshAfterMs) return Promise.resolve();
    reading ??= refresh()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    // A database that hangs must not delay the scrape of everything else.
    return withTimeout(reading, readWithinMs, () => undefined);
  };
  const gauges = new Map(
    names.map(
      (name) => [name, new Gauge({ ...definitions[name], registers: [registry], collect: refreshed })] as const,
    ),
  );
}
