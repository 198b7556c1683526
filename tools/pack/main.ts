import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pack, packages } from './pack.ts';

// `npm run pack:sdk -- <folder>`: makes the tarball of a package and prints its path.
const [wanted = '', folder] = process.argv.slice(2);
const name = packages.find((each) => each === wanted);

if (name === undefined) {
  process.stderr.write(`Name one of these packages: ${packages.join(', ')}.\n`);
  process.exitCode = 64;
} else {
  const usual = fileURLToPath(new URL(`../../packages/${name}/dist`, import.meta.url));
  process.stdout.write(`${pack(name, folder === undefined ? join(usual, 'packed') : resolve(folder))}\n`);
}
