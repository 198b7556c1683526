import { readFileSync } from 'node:fs';
import { type ErrorCode, errorCatalogue } from '@enterprise-api/shared/contracts';
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
    main: html`${renderMarkdown(text)}${errorList()}`,
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

function errorList(): Html {
  return html`<dl class="fields">
${Object.keys(errorCatalogue).map((code) => errorEntry(code as ErrorCode))}</dl>`;
}

function errorEntry(code: ErrorCode): Html {
  const { status, message } = errorCatalogue[code];
  return html`<div id="${errorAnchor(code)}"><dt><code>${code}</code> <span class="type">${status}</span></dt>
<dd><p>${message} ${renderInline(errorAdvice[code])}</p></dd></div>
`;
}
