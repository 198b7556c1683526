import { writeFileSync } from 'node:fs';
import { type JestSuite, readJestSuite } from './suite-results.ts';

interface AggregatedResult {
  numPassedTests: number;
  numFailedTests: number;
  numPassedTestSuites: number;
  numFailedTestSuites: number;
  numTotalTestSuites: number;
  testResults: JestSuite[];
}

/** How often a long run says how far it is. */
const progressEveryMs = 30_000;

/** Says how far a long run is, and writes the result of each suite to the file that the test runner names in TEST_RESULTS_FILE. */
class ResultsReporter {
  readonly #project: string;
  readonly #startedAt = Date.now();
  #saidAt = Date.now();

  constructor({ rootDir }: { rootDir: string }) {
    this.#project = `${rootDir}/`;
  }

  onTestResult(_test: unknown, _result: unknown, run: AggregatedResult): void {
    if (Date.now() - this.#saidAt < progressEveryMs) return;
    this.#saidAt = Date.now();
    const done = run.numPassedTestSuites + run.numFailedTestSuites;
    const minutes = (Date.now() - this.#startedAt) / 60_000;
    const progress = `${done} of ${run.numTotalTestSuites} suites after ${minutes.toFixed(1)} min`;
    process.stdout.write(`${progress}: ${run.numPassedTests} tests passed, ${run.numFailedTests} failed\n`);
  }

  onRunComplete(_contexts: unknown, result: AggregatedResult): void {
    const suites = result.testResults.map((suite) => readJestSuite(suite, this.#project));
    if (process.env.TEST_RESULTS_FILE) writeFileSync(process.env.TEST_RESULTS_FILE, JSON.stringify(suites));
    setTimeout(giveUp, 15_000).unref();
  }
}

// oxlint-disable import/no-default-export -- jest takes a reporter from its module's default export
// biome-ignore lint/style/noDefaultExport: see above
export default ResultsReporter;
// oxlint-enable import/no-default-export

/** Reached only when a test left a handle open, which would keep jest alive for ever. */
function giveUp(): void {
  process.stderr.write('A test left something open (a process, a socket, a timer): ending jest.\n');
  process.exit(2);
}
