import { type Html, html } from './html.ts';

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
