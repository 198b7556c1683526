import { readFileSync } from 'node:fs';
import { type Html, html } from '../html.ts';
import type { NavigationGroup, Page } from '../layout.ts';
import { renderMarkdown } from '../markdown.ts';
import { errorList } from './error-list.ts';

/** File names of the guide's pages, in the order of the navigation. */
const names = [
  'quick-start',
  'receive',
  'verify',
  'test-locally',
  'debug-a-delivery',
  'coding-agents',
  'operational-events',
  'rotate-a-secret',
  'follow-events',
  'call-the-api',
  'errors',
  'source-addresses',
  'retention',
  'versions',
];

const folder = new URL('../../../../../docs/customers/', import.meta.url);
const pages = names.map((name) => {
  const text = readFileSync(new URL(`${name}.md`, folder), 'utf8');
  const [, title = '', rest = ''] = /^# (.+)\n+([\s\S]*)$/.exec(text) ?? [];
  return { path: pathOf(name), title, text: rest };
});

/** @param fillIn puts the settings of this API in the place of the defaults */
export function guidePages(fillIn: (text: string) => string): Page[] {
  return pages.map(({ path, title, text }) => {
    const served = withServedLinks(fillIn(text));
    const [description = ''] = served.split('\n', 1);
    return { path, title, description: withoutMarkdown(description), main: mainOf(path, served) };
  });
}

export function guideNavigation(): NavigationGroup {
  return { title: 'Guide', links: pages.map(({ path, title }) => ({ href: path, label: title })) };
}

function pathOf(name: string): string {
  return name === names[0] ? '/docs' : `/docs/${name}`;
}

function mainOf(path: string, text: string): Html {
  return html`${renderMarkdown(text)}${path === pathOf('errors') && errorList()}`;
}

/** In the repository, pages link to files. `openapi.json#…` names an operation or a page of the reference. */
function withServedLinks(text: string): string {
  return text
    .replace(/\]\(([\w-]+)\.md(#[\w-]+)?\)/g, (_all, name: string, anchor = '') => `](${pathOf(name)}${anchor})`)
    .replace(/\]\(\.\.\/openapi\.json(?:#([\w-]+))?\)/g, (_all, anchor?: string) => `](${referencePath(anchor)})`);
}

const referencePages = new Map([
  ['operations', '/docs/operations'],
  ['event-types', '/docs/events'],
  ['areas', '/docs/areas'],
  ['scopes', '/docs/areas#scopes'],
  ['downloads', '/docs/downloads'],
]);

function referencePath(anchor: string | undefined): string {
  if (anchor === undefined) return '/openapi.json';
  return referencePages.get(anchor) ?? `/docs/operations#${anchor}`;
}

function withoutMarkdown(text: string): string {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
}
