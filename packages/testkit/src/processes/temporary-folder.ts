import { existsSync, mkdtempSync, rmSync } from 'node:fs';
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
 * @param parent the folder in which it is made; by default the one of temporary files
 */
export function createTemporaryFolder(name: string, parent = tmpdir()): TemporaryFolder {
  const path = mkdtempSync(join(parent, `enterprise-api-${name}-`));
  folders.add(path);
  return {
    path,
    [Symbol.dispose]: () => {
      folders.delete(path);
      remove(path);
    },
  };
}

/** A program that has just been told to end may still write a file, for which its own folder is not empty. */
function remove(path: string): void {
  for (let tries = 0; tries < 100 && existsSync(path); tries++) {
    if (tries > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Looked at again.
    }
  }
}
