import { readFileSync, writeFileSync } from 'node:fs';
import { runbooksPage } from './reference/runbooks-page.ts';

// `npm run runbooks` writes runbooks.html, for operators to host: alerts link to it.
const source = new URL('../../../docs/operators/runbooks.md', import.meta.url);
writeFileSync(process.argv[2] ?? 'runbooks.html', runbooksPage(readFileSync(source, 'utf8')));
