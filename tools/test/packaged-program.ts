import { installPackages, type SearchOptions } from './install.ts';

/** Whether the tests have a program. */
export type ProgramSource = { kind: 'program' } | { kind: 'none'; problem: string; advice: string };

/** A program that one package brings. */
export interface PackagedProgram {
  /** Its path on this machine; undefined when it has none. */
  readonly find: () => string | undefined;
  /** The package of Debian. */
  readonly packageName: string;
  /** What a person is told who has to install it. */
  readonly advice: string;
}

/** Searches for a program on the PATH; else for one installed with apt-get, when permitted; else gives advice. */
export function findOrInstall({ find, packageName, advice }: PackagedProgram) {
  return async (options: SearchOptions): Promise<ProgramSource> => {
    if (find() !== undefined) return { kind: 'program' };
    const problem = await installPackages([packageName], options);
    return find() === undefined ? { kind: 'none', problem, advice } : { kind: 'program' };
  };
}
