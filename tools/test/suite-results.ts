import { z } from 'zod';

/** What the tests of one file did. */
const suiteResultSchema = z.object({
  /** Its path in the project. */
  file: z.string(),
  passed: z.int(),
  failed: z.int(),
  skipped: z.int(),
  /** Whether its tests could not run, because an import failed or the process crashed. */
  isBroken: z.boolean(),
  /** Milliseconds since 1970. */
  startedAt: z.number(),
  endedAt: z.number(),
});

export type SuiteResult = z.output<typeof suiteResultSchema>;

/** What the reporter writes, a result for each file. */
export const suiteResultsSchema = z.array(suiteResultSchema);

/** What jest says of one test file. */
export interface JestSuite {
  testFilePath: string;
  numPassingTests: number;
  numFailingTests: number;
  numPendingTests: number;
  numTodoTests: number;
  /** Set when the file could not run. */
  testExecError?: unknown;
  perfStats: { start: number; end: number };
}

/** @param project the folder of the clone, with a slash at its end */
export function readJestSuite(suite: JestSuite, project: string): SuiteResult {
  return {
    file: suite.testFilePath.replace(project, ''),
    passed: suite.numPassingTests,
    failed: suite.numFailingTests,
    skipped: suite.numPendingTests + suite.numTodoTests,
    isBroken: Boolean(suite.testExecError),
    startedAt: suite.perfStats.start,
    endedAt: suite.perfStats.end,
  };
}

/** The failures of a file. One that could not run counts as one. */
export function countFailures({ failed, isBroken }: SuiteResult): number {
  return failed + (isBroken ? 1 : 0);
}
