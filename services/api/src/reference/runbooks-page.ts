import { renderMarkdown } from './markdown.ts';

/** Renders the runbooks as one HTML file that needs no other file. Links to other pages become text. */
export function runbooksPage(markdown: string): string {
  const body = renderMarkdown(markdown).markup.replace(/<a href="(?!#)[^"]*">(.*?)<\/a>/gs, '$1');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Runbooks</title>
<style>
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
  body { max-width: 50rem; margin: auto; padding: 1rem; overflow-wrap: anywhere }
  pre, code { white-space: pre-wrap }
  :is(h1, h2, h3) a { color: inherit; text-decoration: none }
  h3:target { outline: 2px solid }
</style>
${body}
</html>
`;
}
