import { describe, expect, it } from '@jest/globals';
import { type HtmlPart, html } from './html.ts';
import { renderInline, renderMarkdown } from './markdown.ts';

describe('html', () => {
  it.each<[HtmlPart, string]>([
    ['<b>', '&lt;b&gt;'],
    ['a "b" \'c\' & d', 'a &quot;b&quot; &#39;c&#39; &amp; d'],
    [['<', html`<i>x</i>`], '&lt;<i>x</i>'],
    [7, '7'],
    [null, ''],
    [undefined, ''],
    [false, ''],
  ])('%j is shown as %s', (value, markup) => {
    expect(html`<p title="${value}">${value}</p>`.markup).toBe(`<p title="${markup}">${markup}</p>`);
  });
});

describe('renderMarkdown', () => {
  it.each([
    ['What errors mean', 'what-errors-mean'],
    ['Rate `limits`', 'rate-limits'],
    ['1. Node.js', '1-nodejs'],
  ])('gives the heading %s the anchor that GitHub gives it', (words, anchor) => {
    expect(renderMarkdown(`## ${words}\n`).markup).toContain(`<h2 id="${anchor}"><a href="#${anchor}">`);
  });

  it.each(['<script>alert(1)</script>', 'text <img src=x onerror=alert(1)>', '`<b>`', '```\n<b>\n```'])(
    'shows HTML as text: %s',
    (text) => {
      expect(renderMarkdown(text).markup).not.toMatch(/<(?:script|img|b)\b/);
      expect(renderInline(text).markup).not.toMatch(/<(?:script|img|b)\b/);
    },
  );

  it('puts tables and code into areas that scroll by themselves', () => {
    expect(renderMarkdown('| a |\n|---|\n| `b` |\n').markup).toBe(
      '<div class="scrolls"><table><thead><tr><th scope="col">a</th></tr></thead><tbody><tr><td><code>b</code></td></tr></tbody></table></div>',
    );
    expect(renderMarkdown('```sh\na & b\n```').markup).toBe('<pre class="scrolls"><code>a &amp; b</code></pre>');
  });
});
