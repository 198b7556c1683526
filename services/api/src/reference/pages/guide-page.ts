import { readFileSync } from 'node:fs';
import { type ErrorCode, errorCatalogue } from '@enterprise-api/shared/contracts';
import { scrolling } from '../code-block.ts';
import { errorAdvice } from '../error-advice.ts';
import { type Html, html } from '../html.ts';
import { headingsOf, renderInline, renderMarkdown } from '../markdown.ts';
import type { NavigationGroup, Page } from '../page.ts';

const text = readFileSync(new URL('../guide/guide.md', import.meta.url), 'utf8');

/** The first page: how to call the API, how to receive its webhooks, and what each error means. */
export function guidePage(): Page {
  return {
    path: '/docs',
    title: 'Guide',
    description: 'How to call the Enterprise API and how to receive its webhooks.',
    main: html`${renderMarkdown(text)}${errorTable()}`,
  };
}

export function guideNavigation(): NavigationGroup {
  const sections = headingsOf(text).filter(({ depth }) => depth === 2);
  return {
    title: 'Guide',
    links: sections.map(({ text: label, anchor }) => ({ href: `/docs#${anchor}`, label })),
  };
}

/** Where the guide explains an error. */
export function errorAnchor(code: string): string {
  return `error-${code}`;
}

function errorTable(): Html {
  return scrolling(html`<table class="errors">
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">What it means, and what to do</th></tr></thead>
<tbody>${Object.keys(errorCatalogue).map((code) => errorRow(code as ErrorCode))}</tbody>
</table>`);
}

function errorRow(code: ErrorCode): Html {
  const { status, message } = errorCatalogue[code];
  return html`<tr id="${errorAnchor(code)}"><td>${status}</td><td><code>${code}</code></td><td>${message} ${renderInline(errorAdvice[code])}</td></tr>
`;
}
