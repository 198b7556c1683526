import type { Finding } from '../finding.ts';
import type { Stores } from '../stage.ts';

/** A run that breaks a promise of docs/reliability.md on purpose: in full, and in a short form for `make test`. */
export interface Campaign {
  promise: string;
  what: string;
  /** The store that the run takes away, and so needs for itself. */
  breaks?: 'redis' | 'postgres';
  /** The queue backends that have this to break. */
  backends: 'both' | 'redis' | 'postgres';
  /** Undefined where the time-outs of connections decide how long a run takes. */
  short?: (stores: Stores) => Promise<Finding>;
  full: (stores: Stores) => Promise<Finding>;
}

export const minutes = (count: number) => count * 60_000;

/** A run whose short form is the full one. */
export function alike<Run extends Campaign['full']>(run: Run): { short: Run; full: Run } {
  return { short: run, full: run };
}
