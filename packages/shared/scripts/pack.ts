import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

// `npm run pack:shared -- <folder>`: makes the package that programs outside this workspace install. Inside it, the
// sources run as they are; under node_modules Node refuses TypeScript, so what is packed is compiled, with its types.
const project = fileURLToPath(new URL('../../../', import.meta.url));
const source = join(project, 'packages/shared');
const dist = join(source, 'dist');

interface Manifest {
  name: string;
  version: string;
  license: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  exports: Record<string, string>;
}

const readManifest = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

function pack(folder: string): string {
  // A file that was removed from the sources must not stay in the package.
  rmSync(dist, { recursive: true, force: true });
  const compiler = [join(project, 'node_modules/typescript/bin/tsc'), '-b', 'tsconfig.build.json'];
  // Standard output is for the path alone: the compiler's messages go to standard error.
  execFileSync(process.execPath, compiler, { cwd: source, stdio: ['ignore', 2, 2] });
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifestOfPackage(), null, 2)}\n`);
  copyFileSync(join(project, 'LICENSE'), join(dist, 'LICENSE'));
  mkdirSync(folder, { recursive: true });
  const packing = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
  const output = execFileSync('npm', packing, { cwd: dist, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  return join(folder, output.trim().split('\n').at(-1) ?? '');
}

/** The same entries as inside the workspace. */
function manifestOfPackage(): object {
  const { name, version, license, dependencies, exports } = readManifest(source);
  const { kysely, ...others } = dependencies;
  return {
    name,
    version,
    license,
    type: 'module',
    engines: { node: '>=22' },
    exports: Object.fromEntries(Object.entries(exports).map(([entry, file]) => [entry, compiled(file)])),
    files: ['lib'],
    dependencies: {
      ...others,
      // Our declarations use its types.
      '@types/pg': readManifest(project).devDependencies['@types/pg'],
    },
    // The caller's own copy: the producer takes the caller's database handle, and two copies' types do not fit.
    peerDependencies: { kysely: `^${kysely}` },
  };
}

function compiled(file: string): { types: string; default: string } {
  const path = file.replace(/^\.\/src\//, './lib/').replace(/\.ts$/, '');
  return { types: `${path}.d.ts`, default: `${path}.js` };
}

const [folder = join(dist, 'packed')] = process.argv.slice(2);
process.stdout.write(`${pack(resolve(folder))}\n`);
