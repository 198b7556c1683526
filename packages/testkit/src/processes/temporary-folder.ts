import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// Its programs end before the folders go: listeners of `exit` are called in the order in which modules were loaded.
import './guarded-process.ts';

/** A folder of a program that is started for a test. */
export interface TemporaryFolder extends Disposable {
  readonly path: string;
}

const folders = new Set<string>();
process.once('exit', () => {
  for (const path of folders) remove(path);
});

/**
 * Makes an empty folder. It is removed at the end, and also when this process exits before that, on a Ctrl-C for example.
 *
 * @param name what it is for
 */
export function createTemporaryFolder(name: string): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), `enterprise-api-${name}-`));
  folders.add(path);
  return {
    path,
    [Symbol.dispose]: () => {
      folders.delete(path);
      remove(path);
    },
  };
}

/** A program that has just been ended may still write a file. */
function remove(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
}
