import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { release } from './release.ts';

/** `make release ARGS="1.2.3 --dry-run"`: says what forbids a release, or writes it. */
const project = fileURLToPath(new URL('../..', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'dry-run': { type: 'boolean', default: false }, tag: { type: 'boolean', default: false } },
});
const [version = ''] = positionals;

try {
  const problems = release({
    project,
    version,
    date: new Date().toISOString().slice(0, 10),
    dryRun: values['dry-run'],
    tag: values.tag,
    say: (line) => void process.stdout.write(`${line}\n`),
    run: (command, args) => void execFileSync(command, args, { cwd: project, stdio: 'inherit' }),
  });
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
