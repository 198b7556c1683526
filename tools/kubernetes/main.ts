import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readManifests, secretSettings } from './manifests.ts';
import { settingsFile } from './settings-file.ts';
import { typeProblems } from './type-problems.ts';

// `npm run kubernetes` writes deploy/kubernetes/base/settings.env. With --check, as a part of `make check`, it changes
// nothing: it says whether that file is up to date, and what is wrong with the manifests.
const project = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(project, 'deploy/kubernetes');
const file = join(folder, 'base/settings.env');

const manifests = readManifests(folder);
const settings = settingsFile(readFileSync(join(project, '.env.example'), 'utf8'), secretSettings(manifests));

if (process.argv.includes('--check')) {
  const stale = settings !== readFileSync(file, 'utf8');
  const problems = [
    ...(stale ? ['base/settings.env differs from .env.example: run `npm run kubernetes`'] : []),
    ...typeProblems(manifests),
  ];
  for (const problem of problems) console.error(`deploy/kubernetes: ${problem}`);
  process.exitCode = problems.length > 0 ? 1 : 0;
} else {
  writeFileSync(file, settings);
}
