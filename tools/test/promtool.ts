import { findPromtool } from '@enterprise-api/testkit';
import { installPackages, type SearchOptions } from './install.ts';

/** Whether the tests have the program that checks metrics and alert rules. */
export type PromtoolSource = { kind: 'program' } | { kind: 'none'; problem: string; advice: string };

const advice =
  'Install promtool (Debian: sudo apt-get install prometheus; macOS: brew install prometheus); no server need run.';

/** A promtool on the PATH; else one installed with apt-get, when permitted; else advice. */
export async function findPromtoolProgram(options: SearchOptions): Promise<PromtoolSource> {
  if (findPromtool() !== undefined) return { kind: 'program' };
  const problem = await installPackages(['prometheus'], options);
  return findPromtool() === undefined ? { kind: 'none', problem, advice } : { kind: 'program' };
}
