import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';

export interface Imports {
  /** Files of this project, as paths from its folder. */
  files: string[];
  /** Packages from the registry, each with a file that imports it. */
  packages: Map<string, string>;
}

const workspace = /^@enterprise-api\/(shared|testkit|sdk)(\/.+)?$/;
const statement = /^\s*(?:import|export)\s(?!type\b)(?:[^'";`(]*\sfrom\s+)?'([^']+)'/gm;

/** Everything that Node loads to run a file: its static imports and theirs. Type imports are erased and do not count. */
export function importsOf(project: string, entry: string): Imports {
  const exportsOf = (folder: string): Record<string, string> =>
    JSON.parse(readFileSync(join(project, folder, 'package.json'), 'utf8')).exports;
  const files = new Set<string>();
  const packages = new Map<string, string>();
  const visit = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const [, specifier = ''] of readFileSync(join(project, file), 'utf8').matchAll(statement)) {
      const [, name, room = ''] = workspace.exec(specifier) ?? [];
      const folder = `packages/${name}`;
      if (specifier.startsWith('.')) visit(join(dirname(file), specifier));
      else if (name !== undefined) visit(join(folder, exportsOf(folder)[`.${room}`] ?? specifier));
      else if (!isBuiltin(specifier)) packages.set(packageName(specifier), file);
    }
  };
  visit(entry);
  return { files: [...files], packages };
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier);
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
