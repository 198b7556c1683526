import { renameSync, writeFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector';

/**
 * Loaded into a service by `--import`. At each SIGUSR2 it writes the functions that have run since the last one, as a JSON
 * list of `url offset`, to `RAN_FUNCTIONS`. Module bodies do not count.
 */
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
process.on('SIGUSR2', () => session.post('Profiler.takePreciseCoverage', (_error, taken) => write(taken.result)));

function write(scripts: readonly Profiler.ScriptCoverage[]): void {
  const ran = scripts.flatMap(({ url, functions }) =>
    functions.filter(hasRun).map(({ ranges: [whole] }) => `${url} ${whole?.startOffset}`),
  );
  const file = process.env.RAN_FUNCTIONS ?? '';
  writeFileSync(`${file}.new`, JSON.stringify(ran));
  renameSync(`${file}.new`, file);
}

function hasRun({ functionName, ranges: [whole] }: Profiler.FunctionCoverage): boolean {
  const isModule = functionName === '' && whole?.startOffset === 0;
  return !isModule && whole !== undefined && whole.count > 0;
}
