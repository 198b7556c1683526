/** The parts of jest's results that the totals need. */
interface Results {
  numPassedTests: number;
  numFailedTests: number;
  /** Files that could not run, because an import failed or the process crashed. */
  numRuntimeErrorTestSuites: number;
}

/** Writes the totals as the last line of the run. */
export default class TotalsReporter {
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
