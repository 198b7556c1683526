import { setTimeout as pause } from 'node:timers/promises';
import { catalogue } from './catalogue.ts';
import { type Form, sizesOf } from './forms.ts';
import { calibrate, hasMoved } from './measure/calibration.ts';
import { rounded } from './measure/figures.ts';
import { nameOf, type PlannedRun } from './plan.ts';
import type { Machine } from './report/machine.ts';
import type { Results, RunRecord } from './report/results.ts';
import type { Lab } from './stage/lab.ts';
import type { Finding } from './workload.ts';

/** The time budget of a form. Runs that do not fit are left out. */
const budgetSeconds: Record<Form, number> = { smoke: 25, short: 300, full: 3_600 };
/** How often a run is repeated when the machine changed during it, as long as the other runs still fit. */
const repeats: Record<Form, number> = { smoke: 0, short: 0, full: 2 };
const quietMs: Record<Form, number> = { smoke: 0, short: 1_000, full: 1_000 };

export interface SessionOptions {
  form: Form;
  plan: readonly PlannedRun[];
  lab: Lab;
  machine: Machine;
  commit: string;
  /** Undefined: results are not kept. */
  results: Results | undefined;
  say: (line: string) => void;
}

/** Makes the planned runs. @returns how many were void, and how many were left out for lack of time */
export async function runSession(options: SessionOptions): Promise<{ isVoid: number; leftOut: number }> {
  const { form, plan, results, say } = options;
  // Warm-up: the first calibration would measure code that is still being compiled.
  calibrate();
  let isVoid = 0;
  let leftOut = 0;
  for (const [place, planned] of plan.entries()) {
    const secondsLeft = () => budgetSeconds[form] - performance.now() / 1_000;
    if (secondsLeft() < planned.seconds && form !== 'smoke') {
      leftOut += 1;
      continue;
    }
    const toCome = plan.slice(place + 1).reduce((sum, run) => sum + run.seconds, 0);
    const record = await runOnce(options, planned, () => secondsLeft() > toCome + planned.seconds);
    results?.add(record);
    if (record.problems.length > 0) isVoid += 1;
    say(lineOf(record));
  }
  return { isVoid, leftOut };
}

async function runOnce(
  { form, lab, machine, commit }: SessionOptions,
  { id, setting, round }: PlannedRun,
  mayRepeat: () => boolean,
): Promise<RunRecord> {
  for (let tries = 0; ; tries++) {
    await pause(quietMs[form]);
    const before = calibrate();
    const startedAt = performance.now();
    const finding = await find({ lab, sizes: sizesOf[form], setting, round }, id);
    const seconds = (performance.now() - startedAt) / 1_000;
    const calibration: [number, number] = [before, calibrate()];
    const noisy = hasMoved(...calibration);
    if (noisy && finding.problems.length === 0 && tries < repeats[form] && mayRepeat()) continue;
    const date = new Date().toISOString();
    const figures = Object.fromEntries(Object.entries(finding.figures).filter(([, value]) => Number.isFinite(value)));
    return {
      id,
      setting,
      form,
      round,
      commit,
      date,
      seconds,
      calibration,
      noisy,
      problems: finding.problems,
      figures,
      machine,
    };
  }
}

async function find(context: Parameters<(typeof catalogue)['W1']['run']>[0], id: PlannedRun['id']): Promise<Finding> {
  try {
    return await catalogue[id].run(context);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { figures: {}, problems: [`did not come to its end: ${reason}`] };
  }
}

function lineOf(record: RunRecord): string {
  const { round, seconds, problems, figures, noisy } = record;
  const shown = Object.entries(figures).map(([name, value]) => `${name} ${rounded(value)}`);
  const state = problems.length > 0 ? `VOID: ${problems.join('; ')}` : noisy ? 'noisy' : 'valid';
  return `${nameOf(record)}, round ${round}, ${Math.round(seconds)} s, ${state}\n  ${shown.join(', ')}`;
}
