import { spawnSync } from 'node:child_process';
import { chownSync, statSync } from 'node:fs';

/** A user of this machine under which programs can be started. */
export interface Account {
  name: string;
  uid: number;
  gid: number;
}

/**
 * The user that PostgreSQL runs as. Undefined: the user of this process. PostgreSQL refuses to run as root, so for root it
 * is the owner of existing data, else the user `postgres`, added when the machine has none.
 */
export function postgresAccount(dataFolder: string, say: (line: string) => void): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = ownerOf(dataFolder);
  if (owner) return owner;
  const existing = lookUp('postgres');
  if (existing) return existing;
  say('PostgreSQL does not run as root: adding a system user "postgres".');
  spawnSync('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false', 'postgres']);
  const added = lookUp('postgres');
  if (added) return added;
  throw new Error('PostgreSQL does not run as root, and no user could be added: add one named "postgres".');
}

/** For programs that refuse to run as root: the account to start one with, which then owns these files and folders. */
export function dropPrivileges(...paths: string[]): Account | undefined {
  const account = postgresAccount('/', () => undefined);
  if (account !== undefined) for (const path of paths) chownSync(path, account.uid, account.gid);
  return account;
}

/** Whether the account can do what this shell line tries; `$1`, `$2`, … are the arguments. */
export function accountCan(account: Account, script: string, ...args: string[]): boolean {
  const { uid, gid } = account;
  return spawnSync('/bin/sh', ['-c', script, 'sh', ...args], { uid, gid, cwd: '/', stdio: 'ignore' }).status === 0;
}

function ownerOf(folder: string): Account | undefined {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat && stat.uid !== 0 ? { name: `user ${stat.uid}`, uid: stat.uid, gid: stat.gid } : undefined;
}

function lookUp(name: string): Account | undefined {
  const [uid, gid] = ['-u', '-g'].map((flag) => {
    const answer = spawnSync('id', [flag, name], { encoding: 'utf8' });
    return answer.status === 0 ? Number(answer.stdout.trim()) : Number.NaN;
  });
  return Number.isInteger(uid) && Number.isInteger(gid) ? { name, uid: uid as number, gid: gid as number } : undefined;
}
