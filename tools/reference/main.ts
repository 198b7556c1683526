import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { generatedPages, stalePages } from './pages.ts';

// `npm run reference` writes docs/reference. With --check, as a part of `make check`, it names the pages that are out of date.
const [option] = process.argv.slice(2);

if (option === '--check') {
  const stale = stalePages();
  for (const path of stale) console.error(`${path} is out of date: run \`npm run reference\``);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const [path, content] of generatedPages()) {
    writeFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), content);
  }
}
