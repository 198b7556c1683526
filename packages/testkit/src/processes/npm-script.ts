import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from './project-folder.ts';

const manifest = join(projectFolder, 'package.json');

/** What `npm run <script>` gives to node: options and entry point, from the project's folder. So whoever starts a service starts the same. */
export function nodeArguments(script: 'api' | 'worker'): string[] {
  const { scripts } = JSON.parse(readFileSync(manifest, 'utf8')) as { scripts: Record<string, string> };
  const [, command] = /^exec node (.+)$/.exec(scripts[script] ?? '') ?? [];
  if (command === undefined) throw new Error(`The script ${script} does not begin with "exec node".`);
  return command.split(' ');
}
