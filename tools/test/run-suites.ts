import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readStateFile } from '@enterprise-api/testkit';
import { type JestRun, runJest } from './jest.ts';
import { type SuiteResult, suiteResultsSchema } from './suite-results.ts';

export interface SuitesRun extends JestRun {
  /** The arguments that the caller gave to jest. */
  args: readonly string[];
  /** A temporary folder. */
  folder: string;
}

/** How a run of the suites ended. */
export interface SuitesOutcome {
  /** Null when a signal ended jest. */
  exitCode: number | null;
  /** Undefined when jest ended before it could report. */
  results: SuiteResult[] | undefined;
}

/** Runs these files, or where they are undefined those that jest selects for its arguments. */
export async function runSuites(files: readonly string[] | undefined, run: SuitesRun): Promise<SuitesOutcome> {
  const file = join(run.folder, 'results.json');
  const args = files === undefined ? run.args : onlyThese(files, run);
  const { code } = await runJest(args, { ...run, env: { ...run.env, TEST_RESULTS_FILE: file } });
  return { exitCode: code, results: readStateFile(file, suiteResultsSchema) };
}

/** The caller's arguments with these files instead of those that they name: jest would run a file twice that is named twice. */
function onlyThese(files: readonly string[], { args, project }: SuitesRun): string[] {
  return [...args.filter((arg) => !existsSync(resolve(project, arg))), '--runTestsByPath', ...files];
}
