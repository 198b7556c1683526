import { type ProcessExit, spawnGuarded } from '@enterprise-api/shared/testing';

export interface JestRun {
  /** The folder of the clone. */
  project: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];

/** The test files that these arguments select, by jest's own rules. */
export async function listTests(args: readonly string[], run: JestRun): Promise<string[]> {
  const list = ['--listTests', '--json', '--passWithNoTests', ...args];
  await using child = await spawnGuarded(process.execPath, [...jest, ...list], { cwd: run.project, env: run.env });
  await untilExit(child, run.signal);
  const found = child.lines.find((line) => line.startsWith('['));
  if (found === undefined) throw new Error(`jest could not list its tests:\n${child.lines.slice(-20).join('\n')}`);
  return JSON.parse(found) as string[];
}

/** Runs jest, its output on our terminal. */
export async function runJest(args: readonly string[], run: JestRun): Promise<ProcessExit> {
  // Last: jest takes every plain word after --reporters for one more of them.
  const reporters = ['--reporters=default', `--reporters=${run.project}/local/test-run/totals-reporter.ts`];
  await using child = await spawnGuarded(process.execPath, [...jest, ...args, ...reporters], {
    cwd: run.project,
    env: run.env,
    output: 'inherit',
  });
  return await untilExit(child, run.signal);
}

async function untilExit(
  child: { exited: Promise<ProcessExit>; kill: (signal: NodeJS.Signals) => void },
  signal: AbortSignal,
): Promise<ProcessExit> {
  const cancel = () => child.kill('SIGTERM');
  signal.addEventListener('abort', cancel);
  try {
    const exit = await child.exited;
    signal.throwIfAborted();
    return exit;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
