import { planFor } from './plan.ts';
import { describePlan, usage } from './print.ts';
import { parseWorkload } from './workload.ts';

// `npm run sizing -- --events-per-second 500 …`: what a load needs. Exit 2: the arguments are wrong.
const parsed = parseWorkload(process.argv.slice(2));

if (parsed.kind === 'help') process.stdout.write(usage());
else if (parsed.kind === 'problems') {
  process.stderr.write(`${parsed.problems.join('\n')}\n--help lists all options.\n`);
  process.exitCode = 2;
} else {
  const { workload, json } = parsed;
  const plan = planFor(workload);
  process.stdout.write(json ? `${JSON.stringify({ workload, plan }, null, 2)}\n` : describePlan(plan, workload));
}
