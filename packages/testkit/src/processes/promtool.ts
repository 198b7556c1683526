import { spawnSync } from 'node:child_process';
import { findProgram } from './find-program.ts';

/** The path of promtool, which comes with Prometheus. */
export function findPromtool(): string | undefined {
  return findProgram(['promtool'], process.env.PATH);
}

/**
 * Runs promtool, for example with `['check', 'metrics']` and what a process exports as its input.
 *
 * @returns its exit code, which is 0 when it has nothing to object to, and all that it says
 * @throws when it is not installed
 */
export function runPromtool(args: readonly string[], input = ''): { code: number | null; output: string } {
  const program = findPromtool();
  if (program === undefined) throw new Error('This test runs promtool: install the package prometheus.');
  const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8' });
  return { code: status, output: stdout + stderr };
}
