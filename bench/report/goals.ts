import type { RunRecord } from './results.ts';
import type { View } from './view.ts';

/** A performance goal: a figure with a limit that it must reach and a stricter one that it should reach. */
export interface Goal {
  what: string;
  unit: string;
  /** `most`: the limits are upper ones. */
  at: 'most' | 'least';
  must: number;
  stretch: number;
  values: (view: View) => number[];
}

const megabyte = 1e6;
const cpu = 'cpu_us';

/** The cost of one series divided by that of another. */
const cost = (view: View, over: string, under: string) => view.ratios([over, cpu], [under, cpu]);
const scaled = (values: readonly number[], factor: number) => values.map((value) => value * factor);

/** @param rows the size of the history at the greatest growth that was measured */
export function goals(rows: number): Goal[] {
  const size = rows.toLocaleString('en');
  return [
    goal('W2 against B1', '×', 'most', [6, 3], (v) => cost(v, 'W2', 'B1')),
    goal('W1L, p50 at 200/s', 'ms', 'most', [10, 5], (v) => v.values('W1L', 'p50_at_200')),
    goal('W1L, p99 at 1,000/s', 'ms', 'most', [100, 50], (v) => v.values('W1L', 'p99_at_1000')),
    goal('W7a, durable POST/s per core', '/s', 'least', [7_000, 12_000], (v) => v.values('W7a', 'per_core')),
    goal('W3 against W1', '×', 'least', [0.75, 0.9], (v) => cost(v, 'W1', 'W3')),
    goal('W3, connections used again', '%', 'least', [98, 98], (v) => scaled(v.values('W3', 'connection_reuse'), 100)),
    goal('W4, healthy deliveries/s', '×', 'least', [0.85, 0.95], (v) => v.values('W4', 'healthy_ratio')),
    goal('W5, p99 of the healthy 99', '×', 'most', [2, 1.2], (v) => v.values('W5', 'p99_ratio')),
    goal('W6, W1 with 20 KiB against 1 KiB', '×', 'most', [4, 3], (v) => v.values('W6', 'single_ratio')),
    goal('W6, W2 with 20 KiB against 1 KiB', '×', 'most', [1.8, 1.5], (v) => v.values('W6', 'fan_out_ratio')),
    goal(`W10, CPU per delivery at ${size} rows against 10,000`, '×', 'most', [1.3, 1.1], (v) =>
      v.ratios(['W10', `${cpu}_at_${rows}`], ['W10', `${cpu}_at_10000`]),
    ),
    goal(`W10, p95 of a webhook's history page at ${size} rows`, 'ms', 'most', [50, 50], (v) =>
      v.values('W10', `page_of_webhook_p95_at_${rows}`),
    ),
    goal('peak memory of API and worker, W1 and W2', 'MB', 'most', [450, 250], (v) =>
      scaled([...v.values('W1', 'rss'), ...v.values('W2', 'rss')], 1 / megabyte),
    ),
    goal('PostgreSQL bytes per delivery, W2', 'B', 'most', [900, 600], (v) => v.values('W2', 'ledger_bytes')),
  ];
}

function goal(
  what: string,
  unit: string,
  at: Goal['at'],
  [must, stretch]: [number, number],
  values: Goal['values'],
): Goal {
  return { what, unit, at, must, stretch, values };
}

/** Which limit of a goal the median of its values reaches. */
export function verdict({ at, must, stretch }: Goal, median: number): 'stretch' | 'yes' | 'no' {
  const reaches = (limit: number) => (at === 'most' ? median <= limit : median >= limit);
  if (reaches(stretch)) return 'stretch';
  return reaches(must) ? 'yes' : 'no';
}

/** The sizes that growth was measured at, the greatest last. */
export function growthSizes(runs: readonly RunRecord[]): number[] {
  const names = runs.filter((run) => run.id === 'W10').flatMap((run) => Object.keys(run.figures));
  const sizes = names.flatMap((name) => /^cpu_us_at_(\d+)$/.exec(name)?.[1] ?? []).map(Number);
  return [...new Set(sizes)].sort((left, right) => left - right);
}
