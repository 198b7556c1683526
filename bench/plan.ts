import { catalogue, type RunId } from './catalogue.ts';
import type { Form } from './forms.ts';
import type { Setting } from './stage/stage.ts';

/** Runs that are summarized together. */
export interface Series {
  id: RunId;
  setting: Setting;
}

export interface PlannedRun extends Series {
  round: number;
  /** The approximate duration. */
  seconds: number;
}

interface SeriesPlan {
  id: RunId;
  setting?: Setting;
  /** Rounds in full. The short form makes each series once; the smoke form only those with `smoke`. */
  rounds: number;
  smoke?: true;
  fullOnly?: true;
  /** Only when it is asked for by its name. */
  byName?: true;
}

/** Series that are compared are neighbours, so that both meet the machine in the same state. */
const seriesPlans: SeriesPlan[] = [
  { id: 'W1', rounds: 5, smoke: true },
  { id: 'B2', rounds: 5 },
  { id: 'W2', rounds: 5, smoke: true },
  { id: 'B1', rounds: 5 },
  { id: 'W3', rounds: 5 },
  { id: 'W7b', rounds: 5, smoke: true },
  { id: 'B4', rounds: 5 },
  { id: 'W7a', rounds: 5, smoke: true },
  { id: 'B3', rounds: 3 },
  { id: 'W4', rounds: 3 },
  { id: 'W5', rounds: 3 },
  { id: 'W6', rounds: 3 },
  { id: 'W9', rounds: 3 },
  { id: 'W1L', rounds: 3 },
  { id: 'B0', rounds: 1 },
  { id: 'W10', rounds: 1 },
  { id: 'W1C', rounds: 3, byName: true },
  { id: 'W12', rounds: 3, byName: true },
  { id: 'W10b', rounds: 3, byName: true },
  { id: 'W1C', setting: 'postgres', rounds: 3, byName: true },
  { id: 'W13', rounds: 1, byName: true },
  { id: 'W13c', rounds: 1, byName: true },
  { id: 'W11', rounds: 1, byName: true },
  { id: 'W1', setting: 'postgres', rounds: 1 },
  { id: 'W2', setting: 'postgres', rounds: 1, fullOnly: true },
  { id: 'W1', setting: 'one-core', rounds: 1, fullOnly: true },
  { id: 'W2', setting: 'one-core', rounds: 1, fullOnly: true },
];

/** All runs of a form, in order. Each round has every series once; every second round is reversed (A B B A). */
export function planOf(form: Form, only: readonly string[] = []): PlannedRun[] {
  const isChosen = ({ id, byName }: SeriesPlan) => (only.length === 0 && byName !== true) || only.includes(id);
  const wanted = seriesPlans.filter((plan) => isChosen(plan) && isOf(form, plan));
  const rounds = form === 'full' ? Math.max(0, ...wanted.map((plan) => plan.rounds)) : 1;
  return Array.from({ length: rounds }, (_, index) => index + 1).flatMap((round) => {
    const inRound = wanted.filter((plan) => plan.rounds >= round);
    const ordered = round % 2 === 1 ? inRound : inRound.toReversed();
    return ordered.map(({ id, setting = 'redis' }) => {
      const [short, full] = catalogue[id].seconds;
      return { id, setting, round, seconds: { smoke: 4, short, full }[form] };
    });
  });
}

/** The runs that a selection (`W=W2,W7`) names, in whole or by their beginning. @throws on an unknown name */
export function selection(text: string): RunId[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  return names.flatMap((name) => {
    const all = Object.keys(catalogue) as RunId[];
    const found = all.includes(name as RunId) ? [name as RunId] : all.filter((id) => id.replace(/[a-z]$/, '') === name);
    if (found.length === 0) throw new Error(`Unknown: ${name}. Known: ${all.join(' ')}`);
    return found;
  });
}

/** The name of a series, as reports show it. */
export function nameOf({ id, setting }: Series): string {
  return setting === 'redis' ? id : `${id} ${setting}`;
}

function isOf(form: Form, { smoke, fullOnly, byName }: SeriesPlan): boolean {
  return form === 'full' || byName === true || (form === 'short' ? fullOnly !== true : smoke === true);
}
