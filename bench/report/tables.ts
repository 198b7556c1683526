import { catalogue } from '../catalogue.ts';
import { rounded, type Summary, summarize } from '../measure/figures.ts';
import { nameOf } from '../plan.ts';
import { goals, growthSizes, verdict } from './goals.ts';
import type { RunRecord } from './results.ts';
import { viewOf } from './view.ts';

/** The goals, the measured figures, and whether they reach the goals. */
export function goalTable(runs: readonly RunRecord[]): string[] {
  const view = viewOf(runs);
  const rows = goals(growthSizes(runs).at(-1) ?? 10_000_000).map((goal) => {
    const sign = goal.at === 'most' ? '≤' : '≥';
    const limits = [goal.must, goal.stretch].map((limit) => `${sign} ${limit.toLocaleString('en')} ${goal.unit}`);
    const summary = summarize(goal.values(view));
    const reached = summary === undefined ? '–' : verdict(goal, summary.median);
    return [goal.what, ...limits, summary === undefined ? 'not measured' : `${shown(summary)} ${goal.unit}`, reached];
  });
  const isVoid = runs.filter((run) => run.problems.length > 0).length;
  const loss = isVoid === 0 ? `0 in ${runs.length} runs` : `${isVoid} of ${runs.length} runs are void`;
  rows.push(['loss, wrong signatures', '0', '0', loss, isVoid === 0 ? 'stretch' : 'no']);
  return table(['goal', 'must', 'stretch', 'measured: median (min–max)', 'reached'], rows);
}

/** The cost of each series by process, and its throughput. */
export function costTable(runs: readonly RunRecord[]): string[] {
  const view = viewOf(runs);
  const users = ['api_us', 'worker_us', 'redis_us', 'postgres_us'];
  const rows = seriesOf(runs).map((series) => {
    const last = runs.findLast((run) => nameOf(run) === series) as RunRecord;
    const figure = (name: string) => shown(summarize(view.values(series, name)));
    const medians = users.map((name) => {
      const summary = summarize(view.values(series, name));
      return summary === undefined ? '' : String(rounded(summary.median));
    });
    const count = view.runs.filter((run) => nameOf(run) === series).length;
    const when = `${last.commit}, ${last.date.slice(0, 10)}`;
    return [
      series,
      catalogue[last.id].title,
      String(count),
      figure('cpu_us'),
      medians.join(' / '),
      figure('per_second'),
      when,
    ];
  });
  const split = 'API / worker / Redis / PostgreSQL';
  return table(['series', 'what', 'runs', 'CPU µs per delivery or request', split, 'per second', 'commit, date'], rows);
}

/** Every figure of every series. */
export function figureTable(runs: readonly RunRecord[]): string[] {
  const view = viewOf(runs);
  const rows = seriesOf(runs).flatMap((series) => {
    const names = new Set(view.runs.filter((run) => nameOf(run) === series).flatMap((run) => Object.keys(run.figures)));
    return [...names].map((name) => [series, name, shown(summarize(view.values(series, name)))]);
  });
  return table(['series', 'figure', 'median (min–max)'], rows);
}

/** Void and noisy runs, with the reasons. */
export function remarks(runs: readonly RunRecord[]): string[] {
  return runs.flatMap((run) => {
    const name = `${nameOf(run)}, round ${run.round}`;
    if (run.problems.length > 0) return [`- ${name}: void. ${run.problems.join('; ')}.`];
    const [before, after] = run.calibration.map(rounded);
    return run.noisy
      ? [`- ${name}: the machine changed meanwhile (an HMAC took ${before} µs before, ${after} µs after).`]
      : [];
  });
}

/** The machines that the runs were made on, one line each. */
export function machines(runs: readonly RunRecord[]): string[] {
  const lines = runs.map(({ machine }) => {
    const { cpu, cores, memory_gb: memory, system, node, postgres, redis } = machine;
    return `${cpu}, ${cores} cores, ${memory} GB, ${system}; Node.js ${node}, PostgreSQL ${postgres}, Redis ${redis}.`;
  });
  return [...new Set(lines)];
}

function seriesOf(runs: readonly RunRecord[]): string[] {
  const order = Object.keys(catalogue);
  const names = new Map(runs.map((run) => [nameOf(run), order.indexOf(run.id)]));
  return [...names].sort(([, left], [, right]) => left - right).map(([name]) => name);
}

function shown(summary: Summary | undefined): string {
  if (summary === undefined) return '';
  const text = (value: number) => rounded(value).toLocaleString('en', { maximumSignificantDigits: 12 });
  const { median, min, max, count } = summary;
  return count === 1 ? text(median) : `${text(median)} (${text(min)}–${text(max)})`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '/')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)];
}
