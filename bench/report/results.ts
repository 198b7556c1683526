import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Form } from '../forms.ts';
import { nameOf, type Series } from '../plan.ts';
import type { Machine } from './machine.ts';

/** A run as a line of the results file. */
export interface RunRecord extends Series {
  form: Form;
  round: number;
  commit: string;
  date: string;
  seconds: number;
  /** CPU µs of an HMAC before and after: how fast the machine was. */
  calibration: [before: number, after: number];
  /** The machine changed during the run, and did so again when it was repeated. */
  noisy: boolean;
  /** Why it is void; empty: it is not. */
  problems: string[];
  figures: Record<string, number>;
  machine: Machine;
}

export const resultsFolder = new URL('../results/', import.meta.url);

export interface Results {
  readonly runs: readonly RunRecord[];
  /** Whether a valid run of this series and round is there, measured at this commit. */
  has(series: Series, round: number, commit: string): boolean;
  /** Writes a run down, in the place of an earlier one; runs of the series at other commits go. */
  add(run: RunRecord): void;
}

/** The results of a form: one JSON line per run, on disk after every run. */
export function openResults(form: Form): Results {
  const file = new URL(`${form}.jsonl`, resultsFolder);
  let runs = read(file);
  return {
    get runs() {
      return runs;
    },
    has: (series, round, commit) =>
      runs.some((run) => {
        const isThis = nameOf(run) === nameOf(series) && run.round === round && run.commit === commit;
        return isThis && run.problems.length === 0;
      }),
    add: (run) => {
      runs = [...runs.filter((other) => !replaces(run, other)), run];
      mkdirSync(resultsFolder, { recursive: true });
      // A run that is killed while it writes must not destroy the results of the others.
      const draft = new URL(`${form}.jsonl.new`, resultsFolder);
      writeFileSync(draft, runs.map((each) => `${JSON.stringify(each)}\n`).join(''));
      renameSync(draft, file);
    },
  };
}

function replaces(run: RunRecord, other: RunRecord): boolean {
  return nameOf(run) === nameOf(other) && (run.commit !== other.commit || run.round === other.round);
}

function read(file: URL): RunRecord[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as RunRecord);
}
