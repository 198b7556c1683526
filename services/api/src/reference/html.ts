/** Markup that needs no escaping. `html` creates it; a plain string is always text. */
export interface Html {
  readonly markup: string;
}

/** A part of a template. Text is escaped; null, undefined and false are skipped. */
export type HtmlPart = Html | string | number | null | undefined | false | readonly HtmlPart[];

export function html(literals: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const [first = '', ...rest] = literals;
  return { markup: rest.reduce((markup, literal, index) => markup + markupOf(parts[index]) + literal, first) };
}

/** Only for markup that a renderer made from our own text. */
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

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

export function codeBlock(text: string): Html {
  return html`<pre class="scrolls"><code>${text}</code></pre>`;
}

export function jsonBlock(value: unknown): Html {
  return codeBlock(JSON.stringify(value, null, 2));
}

/** Allows line breaks in a name that is wider than a phone: after its punctuation and before its capitals. */
export function breakable(name: string): Html[] {
  const parts = name.split(/(?<=[\p{L}\d}][._:/])(?=[\p{L}{])|(?<=\p{Ll})(?=\p{Lu})/u);
  return parts.map((part, index) => html`${index > 0 && html`<wbr>`}${part}`);
}

/** Lets content that is wider than a phone scroll by itself. */
export function scrolling(content: Html): Html {
  return html`<div class="scrolls">${content}</div>`;
}
