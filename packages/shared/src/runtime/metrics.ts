import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { droppedLogLines } from './logger.ts';
import { withTimeout } from './timeout.ts';
import { version } from './version.ts';

export { exponentialBuckets, Histogram, type Registry } from 'prom-client';
export { Counter, Gauge };

/**
 * The default of 10 ms would wake each process 100 times a second, a quarter of an idle system's cost. A measured lag
 * includes this interval, so keep the interval far below the alert's threshold of half a second.
 */
const eventLoopLagEveryMs = 250;

/**
 * Gauges to remove: Prometheus' linter refuses their counter-like names. Each is the sum of another metric's series.
 */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/**
 * A registry for one service, with the metrics of the process.
 *
 * @param commit the commit that the process was built from, if known
 */
export function createMetrics(service: string, commit: string | undefined): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopLagEveryMs });
  for (const name of misnamed) registry.removeSingleMetric(name);
  new Gauge({
    name: 'enterprise_api_build_info',
    help: 'What runs; always 1.',
    labelNames: ['version', 'commit', 'node_version'],
    registers: [registry],
  }).set({ version, commit: commit ?? '', node_version: process.versions.node }, 1);
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

/** Gauge definitions by figure. Figures with the same gauge name are series of one gauge and differ by labels. */
export type GaugeDefinitions<Figures> = {
  readonly [Figure in keyof Figures]: { name: string; help: string; labels?: Readonly<Record<string, string>> };
};

const readWithinMs = 1_000;

/**
 * Registers gauges for figures that are read together when the metrics are scraped. If reading fails, as during a
 * database outage, the scrape shows the latest figures instead of failing.
 *
 * @param refreshAfterMs minimum time between reads, however often the metrics are scraped
 * @returns a function that refreshes the figures and returns their age in milliseconds; infinite before the first read
 */
export function registerFigures<Figures extends Record<keyof Figures, number>>(
  registry: Registry,
  definitions: GaugeDefinitions<Figures>,
  read: () => Promise<Figures>,
  refreshAfterMs = 10_000,
): () => Promise<number> {
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const figureNames = Object.keys(definitions) as (keyof Figures)[];
  const refresh = async () => {
    const figures = await read();
    readAt = performance.now();
    for (const figure of figureNames) {
      const { name, labels = {} } = definitions[figure];
      gauges.get(name)?.set(labels, figures[figure]);
    }
  };
  const refreshed = (): Promise<void> => {
    if (performance.now() - readAt < refreshAfterMs) return Promise.resolve();
    reading ??= refresh()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    // A database that hangs must not delay the scrape of all other metrics.
    return withTimeout(reading, readWithinMs, () => undefined);
  };
  const gauges = new Map<string, Gauge>();
  for (const { name, help, labels = {} } of Object.values<GaugeDefinitions<Figures>[keyof Figures]>(definitions)) {
    const make = () =>
      new Gauge({ name, help, labelNames: Object.keys(labels), registers: [registry], collect: refreshed });
    gauges.set(name, gauges.get(name) ?? make());
  }
  return async () => {
    await refreshed();
    return performance.now() - readAt;
  };
}
