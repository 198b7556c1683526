import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readStateFile } from '@enterprise-api/testkit';
import { type JestRun, runJest } from './jest.ts';
import { type Stall, stallsDuring, suitesToRepeat, watchStalls } from './stalls.ts';
import { type SuiteResult, suiteResultsSchema } from './suite-results.ts';

export interface SuitesRun extends JestRun {
  /** The arguments that the caller gave to jest. */
  args: readonly string[];
  /** A temporary folder. */
  folder: string;
  say: (line: string) => void;
}

/** How a run of the suites ended. */
export interface SuitesOutcome {
  /** Null when a signal ended jest. */
  exitCode: number | null;
  /** Undefined when jest ended before it could report. */
  results: SuiteResult[] | undefined;
}

/** Of jest, when a test has failed. */
const testsFailed = 1;

/**
 * Runs these files, or where they are undefined those that jest selects for its arguments. Those that failed while the machine
 * stood still run once more, with nothing beside them, and their second result counts.
 */
export async function runSuites(files: readonly string[] | undefined, run: SuitesRun): Promise<SuitesOutcome> {
  using watch = watchStalls();
  const first = await runOnce(files === undefined ? run.args : onlyThese(files, run), run);
  const again = first.exitCode === testsFailed ? suitesToRepeat(first.results ?? [], watch.stalls) : [];
  if (again.length === 0) return first;
  for (const suite of again) run.say(describeRepeat(suite, stallsDuring(suite, watch.stalls)));
  const paths = again.map(({ file }) => join(run.project, file));
  const second = await runOnce(['--runInBand', ...onlyThese(paths, run)], run);
  const results = second.results && replaceResults(first.results ?? [], second.results);
  return { exitCode: second.exitCode, results };
}

/** The caller's arguments with these files instead of those that they name: jest would run a file twice that is named twice. */
function onlyThese(files: readonly string[], { args, project }: SuitesRun): string[] {
  return [...args.filter((arg) => !existsSync(resolve(project, arg))), '--runTestsByPath', ...files];
}

async function runOnce(args: readonly string[], { folder, ...run }: SuitesRun): Promise<SuitesOutcome> {
  const file = join(folder, 'results.json');
  rmSync(file, { force: true });
  const { code } = await runJest(args, { ...run, env: { ...run.env, TEST_RESULTS_FILE: file } });
  return { exitCode: code, results: readStateFile(file, suiteResultsSchema) };
}

/** The results of both runs, where the later one of a suite counts. */
export function replaceResults(first: readonly SuiteResult[], second: readonly SuiteResult[]): SuiteResult[] {
  const later = new Set(second.map(({ file }) => file));
  return [...first.filter(({ file }) => !later.has(file)), ...second];
}

function describeRepeat({ file }: SuiteResult, stalls: readonly Stall[]): string {
  const seconds = (stalls.reduce((sum, { from, to }) => sum + to - from, 0) / 1_000).toFixed(1);
  return `${file} failed, and the machine stood still for ${seconds} s while it ran: it runs once more.`;
}
