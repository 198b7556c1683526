import { type StatisticsGranularity, statisticsGranularities } from '@enterprise-api/shared/contracts';

const lengthMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** A span of whole minutes, hours or days (UTC). `until` is exclusive. */
export interface TimeSpan {
  level: StatisticsGranularity;
  since: Date;
  until: Date;
}

/** Returns the spans that cover a period of whole minutes, in order. Their units are at most `level`. */
export function spansOf(since: number, until: number, level: StatisticsGranularity = 'day'): TimeSpan[] {
  if (since >= until) return [];
  const length = lengthMs[level];
  const from = Math.ceil(since / length) * length;
  const to = Math.floor(until / length) * length;
  const finer = statisticsGranularities[statisticsGranularities.indexOf(level) - 1];
  if (finer === undefined) return [{ level, since: new Date(since), until: new Date(until) }];
  if (from >= to) return spansOf(since, until, finer);
  const whole = { level, since: new Date(from), until: new Date(to) };
  return [...spansOf(since, from, finer), whole, ...spansOf(to, until, finer)];
}

/** Counts the minutes, hours or days (UTC) that a period touches. */
export function countUnits(level: StatisticsGranularity, since: number, until: number): number {
  const numberOf = (time: number) => Math.floor(time / lengthMs[level]);
  return numberOf(until - 1) - numberOf(since) + 1;
}

/** The end of the minute that contains `time`. */
export function endOfMinute(time: number): number {
  return (Math.floor(time / lengthMs.minute) + 1) * lengthMs.minute;
}
