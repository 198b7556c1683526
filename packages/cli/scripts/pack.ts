import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

// `npm run pack:cli -- <folder>`: makes the package that is installed outside this workspace. Inside it, the sources run
// as they are; under node_modules Node refuses TypeScript, so what is packed is compiled.
const project = fileURLToPath(new URL('../../../', import.meta.url));
const source = join(project, 'packages/cli');
const dist = join(source, 'dist');

function pack(folder: string): string {
  // A file that was removed from the sources must not stay in the package.
  rmSync(dist, { recursive: true, force: true });
  const compiler = [join(project, 'node_modules/typescript/bin/tsc'), '-b', 'tsconfig.build.json'];
  // Standard output is for the path alone: the compiler's messages go to standard error.
  execFileSync(process.execPath, compiler, { cwd: source, stdio: ['ignore', 2, 2] });
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifestOfPackage(), null, 2)}\n`);
  cpSync(join(source, 'bin'), join(dist, 'bin'), { recursive: true });
  copyFileSync(join(source, 'README.md'), join(dist, 'README.md'));
  copyFileSync(join(project, 'LICENSE'), join(dist, 'LICENSE'));
  mkdirSync(folder, { recursive: true });
  const packing = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
  const output = execFileSync('npm', packing, { cwd: dist, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  return join(folder, output.trim().split('\n').at(-1) ?? '');
}

function manifestOfPackage(): object {
  const { private: _private, ...manifest } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  return { ...manifest, engines: { node: '>=22.12' }, files: ['bin', 'lib'] };
}

const [folder = join(dist, 'packed')] = process.argv.slice(2);
process.stdout.write(`${pack(resolve(folder))}\n`);
