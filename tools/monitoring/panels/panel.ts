/** A panel of the dashboard: a graph over time, or with `isNumber` the latest value. */
export interface PanelSource {
  readonly title: string;
  /** One of Grafana's units. */
  readonly unit: string;
  readonly description?: string;
  readonly isNumber?: boolean;
  /** PromQL by legend; a legend may use labels of its series. `$of` stands for what selects the jobs and instances. */
  readonly queries: Readonly<Record<string, string>>;
}

export interface RowSource {
  readonly title: string;
  readonly panels: readonly PanelSource[];
}

/** PromQL of three quantiles of a histogram; `$x` in `ofRate` stands for its name. */
export const quantiles = (histogram: string, ofRate: string) =>
  Object.fromEntries(
    [0.5, 0.9, 0.99].map((q) => [
      `p${q * 100}`,
      `histogram_quantile(${q}, sum by (le) (${ofRate.replace('$x', histogram)}))`,
    ]),
  );

/** PromQL of a counter's rate per second. */
export const rate = (series: string) => `rate(${series}[$__rate_interval])`;
