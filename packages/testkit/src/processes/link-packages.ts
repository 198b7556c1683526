import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Gives a copy of this project the packages of another one: links to them, but of our own packages those of the copy. */
export function linkPackages(from: string, to: string): void {
  const folder = join(to, 'node_modules');
  mkdirSync(folder);
  for (const name of readdirSync(join(from, 'node_modules'))) {
    const [source, target] = [join(from, 'node_modules', name), join(folder, name)];
    if (name === '@enterprise-api') cpSync(source, target, { recursive: true, verbatimSymlinks: true });
    else symlinkSync(source, target);
  }
}
