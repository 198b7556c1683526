import { nameOf } from '../plan.ts';
import type { RunRecord } from './results.ts';

/** The valid runs, by the names of their series. */
export interface View {
  readonly runs: readonly RunRecord[];
  /** A figure of every run of a series. */
  values(series: string, figure: string): number[];
  /** A figure of one series over one of another, for every round in which both were measured at the same commit. */
  ratios(over: [series: string, figure: string], under: [series: string, figure: string]): number[];
}

export function viewOf(all: readonly RunRecord[]): View {
  const runs = all.filter((run) => run.problems.length === 0);
  const of = (series: string) => runs.filter((run) => nameOf(run) === series);
  const figureOf = (run: RunRecord, name: string) => run.figures[name] ?? Number.NaN;
  return {
    runs,
    values: (series, figure) => of(series).map((run) => figureOf(run, figure)),
    ratios: ([overSeries, overFigure], [underSeries, underFigure]) =>
      of(overSeries).flatMap((over) => {
        const under = of(underSeries).find(({ round, commit }) => round === over.round && commit === over.commit);
        return under === undefined ? [] : [figureOf(over, overFigure) / figureOf(under, underFigure)];
      }),
  };
}
