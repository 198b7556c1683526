import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '@enterprise-api/testkit';

/**
 * The lines of docs/customers/receive.md that show the way to the raw body in a framework.
 *
 * @throws when the page has none for it
 */
export function readSnippet(framework: string): string {
  const page = readFileSync(join(projectFolder, 'docs/customers/receive.md'), 'utf8');
  const pattern = new RegExp(`^${framework}\\b.*:\\n\\n\`\`\`\\w+\\n([\\s\\S]*?)^\`\`\`$`, 'm');
  const [, snippet] = pattern.exec(page) ?? [];
  if (snippet === undefined) throw new Error(`docs/customers/receive.md has no snippet for ${framework}.`);
  return snippet;
}
