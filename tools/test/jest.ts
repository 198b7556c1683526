import { type ProcessExit, spawnGuarded } from '@enterprise-api/testkit';

export interface JestRun {
  /** The folder of the clone. */
  project: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];

/** The test files that jest selects for these arguments. */
export async function listTests(args: readonly string[], run: JestRun): Promise<string[]> {
  const list = [...jest, '--listTests', '--json', '--passWithNoTests', ...args];
  const child = await spawnGuarded(process.execPath, list, { ...run, cwd: run.project });
  await child.exited;
  run.signal.throwIfAborted();
  const found = child.lines.find((line) => line.startsWith('['));
  if (found === undefined) throw new Error(`jest could not list its tests:\n${child.lines.slice(-20).join('\n')}`);
  return JSON.parse(found) as string[];
}

/** Runs jest; its output goes to our terminal. */
export async function runJest(args: readonly string[], run: JestRun): Promise<ProcessExit> {
  // Last: jest reads every plain word after --reporters as another reporter.
  const reporters = ['--reporters=default', `--reporters=${run.project}/tools/test/results-reporter.ts`];
  const command = [...jest, ...args, ...reporters];
  const child = await spawnGuarded(process.execPath, command, { ...run, cwd: run.project, output: 'inherit' });
  const exit = await child.exited;
  run.signal.throwIfAborted();
  return exit;
}
