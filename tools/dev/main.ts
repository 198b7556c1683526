import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onInterruption } from './interruption.ts';
import { createTerminal } from './terminal.ts';
import { readGivenSettings } from './tour/settings.ts';
import { runTour } from './tour.ts';

// `make start` and, with --demo, `make demo`.
const project = fileURLToPath(new URL('../..', import.meta.url));
const signal = onInterruption();
const terminal = createTerminal(process.stdout, process.env);
const parsed = readGivenSettings(process.env);

if (parsed.ok) {
  for (const name of parsed.warnings) terminal.note(`${name} is not a setting of this product. A typo?`);
  process.exitCode = await runTour({
    project,
    dataFolder: resolve(process.env.LOCAL_DATA_DIR || join(project, '.data')),
    env: process.env,
    given: parsed.settings,
    demo: process.argv.includes('--demo'),
    terminal,
    signal,
  });
} else {
  for (const problem of parsed.problems) terminal.bad(problem);
  process.exitCode = 78;
}
