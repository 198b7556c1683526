import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cliPage } from './cli-page.ts';
import { settingsPage } from './settings-page.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(project + path, 'utf8');

/** The pages that are made from the code, by their paths in the repository. */
export function generatedPages(): Map<string, string> {
  return new Map([
    ['docs/reference/settings.md', settingsPage(read('.env.example'))],
    ['docs/reference/cli.md', cliPage()],
    ['packages/cli/src/generated/runbooks.ts', runbooksFile(read('docs/operators/runbooks.md'))],
  ]);
}

/** The runbooks as a file of the command line, which prints them where no page can be reached. */
function runbooksFile(page: string): string {
  const [introduction = ''] = page.split(/^## /m);
  const sections = page.split(/^### /m).slice(1);
  const runbooks = sections.map((section) => [
    section.slice(0, section.indexOf('\n')),
    `### ${section}`.split(/^## /m)[0]?.trim(),
  ]);
  const text = JSON.stringify(Object.fromEntries(runbooks), null, 2);
  return `// Written by \`npm run reference\` from docs/operators/runbooks.md.
export const introduction = ${JSON.stringify(introduction.trim())};
export const runbooks: Readonly<Record<string, string>> = ${text};
`;
}

/** The pages that differ from what the code would make. */
export function stalePages(): string[] {
  return Array.from(generatedPages()).flatMap(([path, content]) => (read(path) === content ? [] : [path]));
}
