import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { spawnGuarded } from '../processes/guarded-process.ts';
import type { Account } from './account.ts';
import { majorOf, type PostgresBinaries } from './binaries.ts';

/** The superuser of the embedded server, and the only role there. */
export const role = 'enterprise_api';

/** The whole environment of PostgreSQL's programs. Inherited PGDATA, PGPORT or LC_ALL would change their behaviour. */
export const postgresEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * Looks at a data folder before anything is done to it.
 *
 * @returns whether it must be created; an interrupted creation never shows, since a folder gets its name when complete
 * @throws with what to do when it is not ours, not a data folder, or of another PostgreSQL
 */
export function needsCreation(folder: string, binaries: PostgresBinaries): boolean {
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return true;
  const uid = process.getuid?.();
  if (uid !== undefined && uid !== 0 && stat.uid !== uid) {
    throw new Error(`${folder} belongs to another user (an earlier run as root?). Remove it: sudo rm -r '${folder}'`);
  }
  if (readdirSync(folder).length === 0) {
    rmdirSync(folder);
    return true;
  }
  const file = join(folder, 'PG_VERSION');
  if (!existsSync(file)) throw new Error(`${folder} is no PostgreSQL data folder. Move it away and start again.`);
  const found = readFileSync(file, 'utf8').trim();
  const ours = majorOf(binaries.version);
  if (found === ours) return false;
  throw new Error(
    `${folder} holds data of PostgreSQL ${found}, and this release brings PostgreSQL ${ours}. ` +
      `Move it away to start with an empty one: mv '${folder}' '${folder}-${found}'`,
  );
}

export interface Creation {
  binaries: PostgresBinaries;
  account: Account | undefined;
  password: string;
  /** Whether what is written must outlive a crash of the machine. */
  durable: boolean;
  signal?: AbortSignal | undefined;
}

/** Creates a data folder under another name and renames it at the end, so that it is complete or not there. */
export async function createDataFolder(folder: string, creation: Creation): Promise<void> {
  const draft = `${folder}.new`;
  const passwordFile = `${folder}.password`;
  const clear = () => {
    for (const path of [draft, passwordFile]) rmSync(path, { recursive: true, force: true });
  };
  clear();
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(passwordFile, `${creation.password}\n`, { mode: 0o600, flag: 'wx' });
  if (creation.account) for (const path of [draft, passwordFile]) giveTo(creation.account, path);
  try {
    await runInitdb(draft, passwordFile, creation);
    renameSync(draft, folder);
  } finally {
    clear();
  }
}

/** Sets the role's password while no server runs, for when the file with the password is gone. */
export function resetPassword(folder: string, creation: Creation): void {
  const { binaries, account, password } = creation;
  const answer = spawnSync(binaries.postgres, ['--single', '-D', folder, 'postgres'], {
    ...(account && { uid: account.uid, gid: account.gid }),
    input: `alter role ${role} password '${password}'\n`,
    cwd: '/',
    env: postgresEnvironment,
    encoding: 'utf8',
  });
  if (answer.status !== 0) throw new Error(`Could not set the password of ${folder}:\n${answer.stderr}`);
}

async function runInitdb(draft: string, passwordFile: string, creation: Creation): Promise<void> {
  // The built-in C.UTF-8 sorts and compares the same on every machine, whatever locales it has.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const access = ['--auth=scram-sha-256', `--username=${role}`, `--pwfile=${passwordFile}`];
  const extra = ['--no-instructions', ...(creation.durable ? [] : ['--no-sync'])];
  const args = ['--pgdata', draft, ...locale, ...access, ...extra];
  const initdb = await spawnGuarded(creation.binaries.initdb, args, {
    cwd: '/',
    env: postgresEnvironment,
    account: creation.account,
    stopSignal: 'SIGKILL',
    signal: creation.signal,
  });
  const exit = await initdb.exited;
  creation.signal?.throwIfAborted();
  if (exit.code !== 0) throw new Error(`PostgreSQL could not create its data:\n${initdb.lines.slice(-15).join('\n')}`);
}

function giveTo(account: Account, path: string): void {
  chownSync(path, account.uid, account.gid);
}
