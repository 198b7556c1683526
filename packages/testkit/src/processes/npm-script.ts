import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from './project-folder.ts';

/** The arguments that `npm run <script>` passes to node, so that all callers start a service in the same way. */
export function nodeArguments(script: 'api' | 'worker' | 'migrate'): string[] {
  const manifest = readFileSync(join(projectFolder, 'package.json'), 'utf8');
  const { scripts } = JSON.parse(manifest) as { scripts: Record<string, string> };
  const [, command] = /^exec node (.+)$/.exec(scripts[script] ?? '') ?? [];
  if (command === undefined) throw new Error(`The script ${script} does not begin with "exec node".`);
  return command.split(' ');
}
