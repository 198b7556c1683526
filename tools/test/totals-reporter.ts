import { writeFileSync } from 'node:fs';
import type { Totals } from './totals.ts';

interface AggregatedResult {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  numRuntimeErrorTestSuites: number;
}

/** Writes the totals to the file that the test runner names in TEST_TOTALS_FILE. */
class TotalsReporter {
  onRunComplete(_contexts: unknown, result: AggregatedResult): void {
    const totals: Totals = {
      passed: result.numPassedTests,
      failed: result.numFailedTests,
      brokenFiles: result.numRuntimeErrorTestSuites,
      skipped: result.numPendingTests + result.numTodoTests,
    };
    if (process.env.TEST_TOTALS_FILE) writeFileSync(process.env.TEST_TOTALS_FILE, JSON.stringify(totals));
    setTimeout(giveUp, 15_000).unref();
  }
}

// oxlint-disable import/no-default-export -- jest takes a reporter from its module's default export
// biome-ignore lint/style/noDefaultExport: see above
export default TotalsReporter;
// oxlint-enable import/no-default-export

/** Reached only when a test left a handle open, which would keep jest alive for ever. */
function giveUp(): void {
  process.stderr.write('A test left something open (a process, a socket, a timer): ending jest.\n');
  process.exit(1);
}
