import type { Finding } from '../finding.ts';
import type { Stores } from '../stage.ts';

/** A promise of the design, and how it is broken on purpose: in full, and in a short form that every test run does. */
export interface Campaign {
  promise: string;
  what: string;
  /** It takes the store away: it needs one of its own. */
  breaks?: 'redis' | 'postgres';
  /** The queue it runs on: both backends, or one that alone has such a thing to break. */
  backends: 'both' | 'redis' | 'postgres';
  /** None where a connection's time-outs decide how long it takes. */
  short?: (stores: Stores) => Promise<Finding>;
  full: (stores: Stores) => Promise<Finding>;
}

export const minutes = (count: number) => count * 60_000;

/** Of a run that is as long as it must be: its short form is the full one. */
export function alike<Run extends Campaign['full']>(run: Run): { short: Run; full: Run } {
  return { short: run, full: run };
}
