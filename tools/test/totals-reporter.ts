/** The parts of jest's results that the totals need. */
interface Results {
  numPassedTests: number;
  numFailedTests: number;
  /** Files that could not run, because an import failed or the process crashed. */
  numRuntimeErrorTestSuites: number;
}

interface Suite {
  testFilePath: string;
  testResults: { status: string; title: string }[];
}

/** Names the tests that were left out, and writes the totals as the last line of the run. */
export default class TotalsReporter {
  onTestResult(_test: unknown, { testFilePath, testResults }: Suite): void {
    const file = testFilePath.replace(`${process.cwd()}/`, '');
    for (const { status, title } of testResults) if (status === 'pending') process.stdout.write(`${file}: ${title}\n`);
  }

  onRunComplete(_contexts: unknown, results: Results): void {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    process.once('exit', () => process.stdout.write(`${results.numPassedTests} passed, ${failed} failed\n`));
    setTimeout(giveUp, 30_000).unref();
  }
}

/** Runs only when a test left a handle open, which would keep jest alive for ever. */
function giveUp(): void {
  process.stderr.write('A test left something open (a process, a socket, a timer): ending jest.\n');
  process.exit(2);
}
