import type { Finding } from '../finding.ts';
import type { Stores } from '../stage.ts';

/** A run that breaks a promise of docs/reliability.md on purpose: in full, and in a short form for `make test`. */
export interface Campaign {
  promise: string;
  what: string;
  /** The store that the run breaks, and so may not share. */
  breaks?: 'redis' | 'postgres';
  /** The queue backends to which this fault can happen. */
  backends: 'both' | 'redis' | 'postgres';
  /** Why this machine cannot make the run; undefined when it can. */
  missing?: () => string | undefined;
  /** Undefined where time-outs of connections make the run too long for a test. */
  short?: (stores: Stores) => Promise<Finding>;
  full: (stores: Stores) => Promise<Finding>;
}

export const minutes = (count: number) => count * 60_000;

/** A run whose short form is the full one. */
export function alike<Run extends Campaign['full']>(run: Run): { short: Run; full: Run } {
  return { short: run, full: run };
}
