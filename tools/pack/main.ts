import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pack, packages, packDownloads } from './pack.ts';

// `npm run pack:sdk -- <folder>`: makes the tarball of a package and prints its path. `downloads` makes what the API serves.
const [wanted = '', folder] = process.argv.slice(2);
const name = packages.find((each) => each === wanted);

if (wanted === 'downloads') {
  packDownloads(fileURLToPath(new URL('../../services/api/dist/downloads', import.meta.url)));
} else if (name === undefined) {
  process.stderr.write(`Name one of these packages: ${packages.join(', ')}, or "downloads".\n`);
  process.exitCode = 64;
} else {
  const usual = fileURLToPath(new URL(`../../packages/${name}/dist`, import.meta.url));
  process.stdout.write(`${pack(name, folder === undefined ? join(usual, 'packed') : resolve(folder))}\n`);
}
