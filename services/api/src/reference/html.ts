/** Markup that may stand in a page as it is. `html` makes it; a plain string is always text. */
export interface Html {
  readonly markup: string;
}

/** What a template may contain: text, which is escaped; markup; lists of both; and nothing. */
export type HtmlPart = Html | string | number | null | undefined | false | readonly HtmlPart[];

/** A template whose values are text, unless they are markup already. */
export function html(literals: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const [first = '', ...rest] = literals;
  return { markup: rest.reduce((markup, literal, index) => markup + markupOf(parts[index]) + literal, first) };
}

/** Markup from somewhere else: only for what a renderer has made of a text of ours. */
export function trustedMarkup(markup: string): Html {
  return { markup };
}

function markupOf(part: HtmlPart): string {
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'string') return escapeHtml(part);
  if (typeof part === 'number') return String(part);
  return isList(part) ? part.map(markupOf).join('') : part.markup;
}

function isList(part: Html | readonly HtmlPart[]): part is readonly HtmlPart[] {
  return Array.isArray(part);
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as it stands in an element or in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** Lines of code or of an answer. They scroll sideways, so that the page does not. */
export function codeBlock(text: string): Html {
  return html`<pre class="scrolls"><code>${text}</code></pre>`;
}

/** A JSON document, indented. */
export function jsonBlock(value: unknown): Html {
  return codeBlock(JSON.stringify(value, null, 2));
}

/** What is too wide for a phone scrolls by itself. */
export function scrolling(content: Html): Html {
  return html`<div class="scrolls">${content}</div>`;
}
