import type { Form } from './forms.ts';
import { canMeasureCpu } from './measure/cpu.ts';
import { nameOf, type PlannedRun, planOf, selection } from './plan.ts';
import { canPin } from './processes/pinning.ts';
import { commitName, describeMachine } from './report/machine.ts';
import { openResults } from './report/results.ts';
import { writeReport } from './report/write.ts';
import { runSession } from './session.ts';
import { openLab } from './stage/lab.ts';

// `make bench`: every workload in its short form. `FULL=1`: in full; runs that this commit has already are not
// repeated. `W=W2` or ARGS="W2 B1": only these. ARGS=smoke: a few hundred events, to see that they arrive.
// ARGS=report: tables of earlier runs.
async function main(args: readonly string[]): Promise<number> {
  const form: Form = args.includes('smoke') ? 'smoke' : process.env.FULL ? 'full' : 'short';
  if (args.includes('report')) {
    for (const each of ['short', 'full'] as const) writeReport(each);
    return 0;
  }
  const only = selection([process.env.W ?? '', ...args.filter((arg) => arg !== 'smoke')].join(' '));
  const results = form === 'smoke' ? undefined : openResults(form);
  const commit = commitName();
  const plan = planOf(form, only);
  const left = form === 'full' ? plan.filter((run) => !results?.has(run, run.round, commit)) : plan;
  printPlan(form, plan, left, commit);
  if (left.length === 0) return 0;
  await using lab = await openLab(say);
  const machine = describeMachine(lab.stores);
  const { isVoid, leftOut } = await runSession({ form, plan: left, lab, machine, commit, results, say });
  if (results !== undefined) writeReport(form);
  if (leftOut > 0)
    say(`Left out for lack of time: ${leftOut} runs. ${form === 'full' ? 'Run it again to go on.' : ''}`);
  say(isVoid === 0 ? 'All runs are valid.' : `${isVoid} runs are void.`);
  return isVoid === 0 ? 0 : 1;
}

function printPlan(form: Form, plan: readonly PlannedRun[], left: readonly PlannedRun[], commit: string): void {
  const rounds = new Map<string, number>();
  for (const run of plan) rounds.set(nameOf(run), (rounds.get(nameOf(run)) ?? 0) + 1);
  const minutes = left.reduce((sum, run) => sum + run.seconds, 0) / 60;
  say(`The ${form} form at commit ${commit}: ${[...rounds].map(([name, count]) => `${name} × ${count}`).join(', ')}.`);
  say(`${left.length} of ${plan.length} runs are to be made: about ${Math.ceil(minutes)} minutes.`);
  if (!canMeasureCpu) say('This system has no /proc: CPU time is not measured, so most figures will be missing.');
  if (!canPin) say('No taskset, or one core: generator and receiver share all cores with the system.');
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
process.exitCode = await main(process.argv.slice(2)).catch((error: Error) => {
  say(error.message);
  return 1;
});
