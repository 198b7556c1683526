import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where distributions put servers that an ordinary user's PATH may lack. */
const usualFolders = ['/usr/bin', '/usr/local/bin', '/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin'];

/** The path of the first of these programs that the PATH, or a usual folder beyond it, has. */
export function findProgram(names: readonly string[], path: string | undefined): string | undefined {
  const folders = [...new Set([...(path ?? '').split(delimiter).filter((folder) => folder !== ''), ...usualFolders])];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
