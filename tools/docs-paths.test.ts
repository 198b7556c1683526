import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('..', import.meta.url));
const notOurs = ['node_modules', '.git', '.data'];
const paths = globSync('**/*', { cwd: root, exclude: (name) => notOurs.includes(name) }).map((path) => `/${path}`);
const pages = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'tests/**/*.md', 'bench/*.md'], {
  cwd: root,
}).filter((page) => page !== 'CHANGELOG.md');

/** A path in backticks: it has a slash and an extension, ends with a slash, or is the name of a test file. */
const inBackticks =
  /`((?:[\w.@*{},-]+\/)+[\w.@*{},-]+\.(?:ts|js|mjs|json|md|sh|ya?ml|sql)|(?:[\w.@*{},-]+\/)+|[\w.*-]+\.test\.ts)`/g;
/** A link to a heading of this page, or of another one. */
const linkToHeading = /\]\((?!https?:|mailto:)([^)#\s]*\.md)?#([^)\s]+)\)/g;
const link = /\]\((?!https?:|mailto:|#)([^)#\s]+)/g;
/** Files that a run or a reader makes. */
const generated = ['.data/', '.cursor/mcp.json', '.vscode/mcp.json'];

/** A page may leave out the folders above a path, which it names once for many. */
function isInRepository(named: string): boolean {
  const pattern = `/${named.replace(/\/$/, '')}`
    .replace(/[.+]/g, '\\$&')
    .replace(/\*+/g, '[^/]*')
    .replace(/\{([^}]*)\}/g, (_braces, names: string) => `(?:${names.replaceAll(',', '|')})`);
  const end = new RegExp(`${pattern}$`);
  return paths.some((path) => end.test(path));
}

const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found ?? '');

/** The headings of a page as the links to them are written: in small letters, without punctuation, with hyphens for spaces. */
function headingsOf(file: string): string[] {
  const withoutCode = readFileSync(file, 'utf8').replace(/^```[\s\S]*?^```$/gm, '');
  return matches(withoutCode, /^#{1,6} (.*)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe.each([...pages, ...globSync('packages/*/README.md', { cwd: root })])('the page %s', (page) => {
  const text = readFileSync(join(root, page), 'utf8');

  it('runs no package that a stranger could publish under our names', () => {
    expect(matches(text, /^(.*\bnpx (?:--yes |-y )?(?:enterprise-api|@enterprise-api).*)$/gm)).toEqual([]);
    expect(matches(text, /^(.*\bnpm (?:install|i|add) (?:-\S+ )*@enterprise-api.*)$/gm)).toEqual([]);
  });

  it('names no path that does not exist', () => {
    const named = matches(text, inBackticks).filter((path) => !generated.includes(path));
    expect(named.filter((path) => !isInRepository(path))).toEqual([]);
  });

  it('links to no file that does not exist', () => {
    const targets = matches(text, link).map((target) => join(root, dirname(page), target));
    expect(targets.filter((target) => !existsSync(target)).map((target) => relative(root, target))).toEqual([]);
  });

  it('links to no heading that does not exist', () => {
    const targets = [...text.matchAll(linkToHeading)].map(([, file = '', heading = '']) => ({
      file: file === '' ? join(root, page) : join(root, dirname(page), file),
      heading,
    }));
    const missing = targets.filter(({ file, heading }) => existsSync(file) && !headingsOf(file).includes(heading));
    expect(missing.map(({ file, heading }) => `${relative(root, file)}#${heading}`)).toEqual([]);
  });
});
