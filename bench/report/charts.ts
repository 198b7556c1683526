import { rounded, summarize } from '../measure/figures.ts';
import { growthSizes } from './goals.ts';
import { colourOf, legend, polyline, rect, svg, text } from './svg.ts';
import type { View } from './view.ts';

const width = 760;
const [left, right] = [150, 90];

/** The charts by name. Charts without figures are left out. */
export function charts(view: View, note: string): Record<string, string> {
  const all = { cost: costChart(view, note), latency: latencyChart(view, note), growth: growthChart(view, note) };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, chart]) => (chart === undefined ? [] : [[name, chart]])),
  );
}

const costSeries = ['W1', 'W3', 'W2', 'W2H', 'W1 postgres', 'W2 postgres', 'B2', 'B3', 'B1'];
/** The processes that use CPU time, and the names of their figures. */
const users = {
  'API, producer': ['api_us', 'producer_us'],
  worker: ['worker_us', 'sender_us'],
  Redis: ['redis_us'],
  PostgreSQL: ['postgres_us'],
};

function costChart(view: View, note: string): string | undefined {
  const rows = costSeries.flatMap((series) => {
    const total = medianOf(view, series, 'cpu_us');
    if (total === undefined) return [];
    const parts = Object.values(users).map((names) => names.map((name) => medianOf(view, series, name) ?? 0));
    return [{ series, total, parts: parts.map((each) => each.reduce((sum, part) => sum + part, 0)) }];
  });
  if (rows.length === 0) return undefined;
  const scale = (width - left - right) / Math.max(...rows.map(({ total }) => total));
  const drawn = rows.flatMap(({ series, total, parts }, index) => {
    const y = 70 + index * 30;
    let x = left;
    const bars = parts.map((part, place) => {
      const bar = rect({ x, y, width: part * scale, height: 20, fill: colourOf(place) });
      x += part * scale;
      return bar;
    });
    return [text(left - 10, y + 15, series, { anchor: 'end' }), ...bars, text(x + 6, y + 15, `${rounded(total)} µs`)];
  });
  const title = `CPU time per delivery confirmed, median${note}`;
  return svg(width, 90 + rows.length * 30, title, [...legend(left, 50, Object.keys(users)), ...drawn]);
}

function latencyChart(view: View, note: string): string | undefined {
  const parts = ['p50', 'p99', 'p99.9'];
  const rates = ['50', '200', '1000', 'half'];
  const rows = rates.map((rate) => ({
    rate,
    values: parts.map((part) => medianOf(view, 'W1L', `${part}_at_${rate}`)),
  }));
  const most = Math.max(...rows.flatMap(({ values }) => values.map((value) => value ?? 0)));
  if (most === 0) return undefined;
  // Logarithmic from 1 ms on: a p99 is many times a p50.
  const scale = (value: number) => (Math.log10(Math.max(value, 1)) / Math.log10(most)) * (width - left - right);
  const drawn = rows.flatMap(({ rate, values }, index) => {
    const y = 70 + index * 70;
    const label = rate === 'half' ? 'half of the most' : `${rate}/s`;
    const bars = values.flatMap((value, place) => {
      if (value === undefined) return [];
      const top = y + place * 20;
      const bar = rect({ x: left, y: top, width: scale(value), height: 16, fill: colourOf(place) });
      return [bar, text(left + scale(value) + 6, top + 13, `${rounded(value)} ms`)];
    });
    return [text(left - 10, y + 33, label, { anchor: 'end' }), ...bars];
  });
  const title = `W1L: from due to received, logarithmic${note}`;
  return svg(width, 90 + rows.length * 70, title, [...legend(left, 50, parts), ...drawn]);
}

function growthChart(view: View, note: string): string | undefined {
  const sizes = growthSizes(view.runs);
  const lines = { 'CPU µs per delivery': 'cpu_us', 'history page p95, ms': 'page_of_webhook_p95' };
  const points = Object.values(lines).map((name) =>
    sizes.map((size) => medianOf(view, 'W10', `${name}_at_${size}`) ?? 0),
  );
  if (sizes.length < 2) return undefined;
  const [top, bottom] = [80, 300];
  const x = (index: number) => left + (index * (width - left - right)) / (sizes.length - 1);
  const drawn = points.flatMap((values, line) => {
    const most = Math.max(...values, 1);
    const placed = values.map((value, index) => [x(index), bottom - (value / most) * (bottom - top)] as const);
    const labels = placed.map(([atX, atY], index) =>
      text(atX, atY - 10, String(rounded(values[index] ?? 0)), { anchor: 'middle' }),
    );
    return [polyline(placed, colourOf(line)), ...labels];
  });
  const axis = sizes.map((size, index) => text(x(index), bottom + 24, size.toLocaleString('en'), { anchor: 'middle' }));
  const names = Object.keys(lines).flatMap((name, line) => [
    rect({ x: left + line * 220, y: 40, width: 12, height: 12, fill: colourOf(line) }),
    text(left + line * 220 + 18, 50, name),
  ]);
  return svg(width, 340, `W10: against delivery rows, each line from 0 to its own most${note}`, [
    ...names,
    ...drawn,
    ...axis,
  ]);
}

function medianOf(view: View, series: string, figure: string): number | undefined {
  return summarize(view.values(series, figure))?.median;
}
