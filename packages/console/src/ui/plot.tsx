import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { fetchPart } from '../fetched.tsx';
import { count, inUtc, timeParts } from '../format.ts';
import { m } from '../messages.ts';
import { useStore } from '../store.ts';
import { Table } from './table.tsx';
import { When } from './text.tsx';

interface PlotSeries {
  name: string;
  /** A custom property of the style sheet. */
  color: string;
  values: readonly (number | null)[];
}

interface PlotProps {
  label: string;
  /** In seconds since 1970. */
  times: readonly number[];
  series: readonly PlotSeries[];
  kind: 'bars' | 'lines';
  unit: string;
  /** Times to mark with a line, in seconds since 1970. */
  marks?: readonly number[];
}

/** A plot, and its numbers as a table. The library is loaded with the first plot. */
export function Plot(props: PlotProps) {
  const { label, times, series, unit } = props;
  const place = useRef<HTMLDivElement>(null);
  const [isMissing, setMissing] = useState(false);
  const isDark = useDark();
  const utc = useStore(inUtc);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    let plot: uPlot | undefined;
    let isOver = false;
    const observer = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height }));
    loadLibrary().then(
      (library) => {
        if (isOver) return;
        const data = [times, ...stacked(props)] as unknown as uPlot.AlignedData;
        plot = new library(optionsOf(props, element, library, utc), data, element);
        observer.observe(element);
      },
      () => setMissing(true),
    );
    return () => {
      isOver = true;
      observer.disconnect();
      plot?.destroy();
    };
  }, [props.times, props.series, props.marks, isDark, utc]);
  const end = times.at(-1);
  const offset = end && timeParts(new Date(end * 1000).toISOString(), utc).offset;
  const rows = times
    .map((time, index) => ({ time, index }))
    .filter(({ index }) => series.some(({ values }) => values[index]));
  return (
    <figure class="plot">
      <figcaption class="line">
        {series.map(({ name, color }) => (
          <span key={name} class={`key ${color}`}>
            {name}
          </span>
        ))}
        {offset && (
          <span class="offset">
            {m.overview.time} {offset}
          </span>
        )}
      </figcaption>
      {isMissing ? (
        <p class="empty">{m.states.chunk}</p>
      ) : (
        <div ref={place} class="canvas" role="img" aria-label={label} />
      )}
      <details>
        <summary>{m.actions.asTable}</summary>
        <Table
          label={label}
          rows={rows.reverse()}
          keyOf={({ time }) => String(time)}
          empty={m.overview.none}
          columns={[
            { name: m.overview.time, cell: ({ time }) => <When at={new Date(time * 1000).toISOString()} /> },
            ...series.map(({ name, values }) => ({
              name,
              number: true,
              cell: ({ index }: { index: number }) => {
                const value = values[index];
                return value == null ? '–' : `${count(value)}${unit}`;
              },
            })),
          ]}
        />
      </details>
    </figure>
  );
}

const height = 180;

const loadLibrary = async (): Promise<typeof uPlot> => (await fetchPart(() => import('uplot'))).default;

/** Bars are stacked: the last one drawn is the lowest. */
function stacked({ kind, series }: PlotProps): (readonly (number | null)[])[] {
  if (kind === 'lines') return series.map(({ values }) => values);
  return series.map((_, from) =>
    (series[0]?.values ?? []).map((_value, at) =>
      series.slice(from).reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
    ),
  );
}

function optionsOf(props: PlotProps, element: HTMLElement, library: typeof uPlot, utc: boolean): uPlot.Options {
  const { times, series, kind, unit, marks = [] } = props;
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(`--${name}`);
  const axis = {
    stroke: color('muted'),
    grid: { stroke: color('line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  const [first = 0, second = first + 60] = times;
  const step = second - first;
  const last = times.at(-1) ?? first;
  const bars = library.paths.bars?.({ size: [0.8, 40], align: 1 });
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: {
      x: { range: () => [first, last + step] },
      y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.1)] },
    },
    tzDate: (seconds) => (utc ? library.tzDate(new Date(seconds * 1000), 'Etc/UTC') : new Date(seconds * 1000)),
    axes: [
      { ...axis, size: 32, values: (_plot, ticks) => ticks.map((tick) => tickName(tick, ticks, utc)) },
      { ...axis, size: 64, values: (_plot, ticks) => ticks.map((tick) => (tick % 1 ? '' : `${count(tick)}${unit}`)) },
    ],
    series: [
      {},
      ...series.map(({ color: name }) => ({
        stroke: color(name),
        width: kind === 'bars' ? 0 : 1.5,
        points: { show: kind === 'lines', size: 4 },
        ...(kind === 'bars' && bars && { fill: color(name), paths: bars }),
      })),
    ],
    hooks: { draw: [(plot) => drawMarks(plot, marks, color('muted'))] },
  };
}

/** The hour, or at midnight the day. If ticks are days apart, always the day. */
function tickName(tick: number, ticks: readonly number[], utc: boolean): string {
  const zone = utc ? { timeZone: 'UTC' } : {};
  const at = new Date(tick * 1000);
  const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', ...zone }).format(at);
  const isDay = (ticks[1] ?? 0) - (ticks[0] ?? 0) >= 86_400 || clock === '00:00';
  return isDay ? new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', ...zone }).format(at) : clock;
}

function drawMarks(plot: uPlot, marks: readonly number[], color: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.setLineDash([4, 4]);
  for (const mark of marks) {
    const x = plot.valToPos(mark, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

function useDark(): boolean {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const listen = () => setDark(scheme.matches);
    scheme.addEventListener('change', listen);
    return () => scheme.removeEventListener('change', listen);
  }, []);
  return isDark;
}
