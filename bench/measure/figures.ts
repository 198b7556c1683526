/** The median of several measurements, with the least and the greatest. */
export interface Summary {
  median: number;
  min: number;
  max: number;
  count: number;
}

export function summarize(values: readonly number[]): Summary | undefined {
  const sorted = values.filter(Number.isFinite).sort((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const [upper] = sorted.slice(middle);
  const lower = sorted.length % 2 === 1 ? upper : sorted[middle - 1];
  if (upper === undefined || lower === undefined) return undefined;
  return {
    median: (upper + lower) / 2,
    min: sorted[0] as number,
    max: sorted.at(-1) as number,
    count: sorted.length,
  };
}

/** Three significant digits; numbers from 1,000 on as integers. */
export function rounded(value: number): number {
  if (!Number.isFinite(value) || value === 0 || Math.abs(value) >= 1_000) return Math.round(value);
  return Number(value.toPrecision(3));
}
