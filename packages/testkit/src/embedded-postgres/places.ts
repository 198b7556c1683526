import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Account, accountCan } from './account.ts';

/**
 * A folder outside the project that every user can reach, for what user `postgres` cannot reach inside it (a clone
 * below /root, say). Its name comes from the project's path, so that the next run finds it again.
 *
 * @throws when another user owns the folder, and so could change the files in it
 */
export function sharedPlace(project: string): string {
  const name = `enterprise-api-${createHash('sha256').update(realpathSync(project)).digest('hex').slice(0, 10)}`;
  for (const base of new Set(['/var/tmp', tmpdir()])) {
    const place = join(base, name);
    try {
      mkdirSync(place, { mode: 0o711, recursive: true });
    } catch {
      continue;
    }
    const stat = lstatSync(place);
    if (!stat.isDirectory() || stat.uid !== process.getuid?.()) throw new Error(`${place} belongs to another user.`);
    chmodSync(place, 0o711);
    return place;
  }
  throw new Error('Found no folder that user "postgres" can reach; tried /var/tmp.');
}

/** Whether the account can keep a folder of its own in this one. */
export function canLiveIn(account: Account | undefined, folder: string): boolean {
  return account === undefined || accountCan(account, 'cd "$1"', folder);
}
