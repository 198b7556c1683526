import { Marked, type Tokens } from 'marked';
import { breakable, codeBlock, escapeHtml, type Html, html, scrolling, trustedMarkup } from './html.ts';

/**
 * Renders our own text. Headings get an anchor made of their words. Tables scroll by themselves, not with the page.
 * HTML in the text appears as text.
 */
export function renderMarkdown(text: string): Html {
  return trustedMarkup(marked.parse(text, { async: false }));
}

/** Renders at most one paragraph, without `<p>`. */
export function renderInline(text: string): Html {
  return trustedMarkup(marked.parseInline(text, { async: false }));
}

/** Makes anchors as GitHub does: `What errors mean` → `what-errors-mean`, `Node.js` → `nodejs`. */
export function anchorOf(words: string): string {
  return words
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      const anchor = anchorOf(text);
      return `<h${depth} id="${anchor}"><a href="#${anchor}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
    },
    code: ({ text }) => codeBlock(text).markup,
    codespan: ({ text }) => html`<code>${breakable(text)}</code>`.markup,
    html: ({ text }) => escapeHtml(text),
    table({ header, rows }) {
      const inline = ({ tokens }: Tokens.TableCell) => this.parser.parseInline(tokens);
      const head = header.map((cell) => `<th scope="col">${inline(cell)}</th>`).join('');
      const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${inline(cell)}</td>`).join('')}</tr>`);
      const table = `<table><thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table>`;
      return scrolling(trustedMarkup(table)).markup;
    },
  },
});
