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
  ]);
}

/** The pages that differ from what the code would make. */
export function stalePages(): string[] {
  return Array.from(generatedPages()).flatMap(([path, content]) => (read(path) === content ? [] : [path]));
}
