import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('docs/ingress.md', () => {
  it.each([
    ['nginx', 'examples/ingress/nginx.conf'],
    ['caddyfile', 'examples/ingress/Caddyfile'],
  ])('shows the %s configuration that the tests run', (language, file) => {
    expect(read('docs/ingress.md')).toContain(`\`\`\`${language}\n${read(file)}\`\`\`\n`);
  });
});
