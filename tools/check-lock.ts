import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { lockFileSchema, lockProblems } from './lock-file.ts';

// Part of `make check`: package-lock.json is complete, so that `npm ci` passes on every platform.
const file = fileURLToPath(new URL('../package-lock.json', import.meta.url));
const problems = lockProblems(lockFileSchema.parse(JSON.parse(readFileSync(file, 'utf8'))));

for (const problem of problems) console.error(`package-lock.json: ${problem}`);
if (problems.length > 0)
  console.error(
    'npm leaves out what its registry does not offer. Hold the package at a version that is offered for every platform ' +
      '(its dependency in package.json, or an entry in "overrides"), then run `npm install --package-lock-only`.',
  );
process.exitCode = problems.length > 0 ? 1 : 0;
