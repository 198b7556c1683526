import { countFailures, type SuiteResult } from './suite-results.ts';

/** The last line of a test run. A file that could not run counts as one failure. */
export function totalsLine(suites: readonly SuiteResult[]): string {
  return `${sum(suites, ({ passed }) => passed)} passed, ${sum(suites, countFailures)} failed`;
}

/** How many tests were left out, in a line; undefined when none was. */
export function describeSkipped(suites: readonly SuiteResult[]): string | undefined {
  const skipped = sum(suites, (suite) => suite.skipped);
  return skipped > 0 ? `${skipped} skipped.` : undefined;
}

function sum(suites: readonly SuiteResult[], count: (suite: SuiteResult) => number): number {
  return suites.reduce((total, suite) => total + count(suite), 0);
}
