import { breakable, type Html, html } from './html.ts';

export interface Page {
  /** `/docs/areas` */
  readonly path: string;
  readonly title: string;
  /** One sentence, for search engines and previews. */
  readonly description: string;
  readonly main: Html;
}

export interface NavigationGroup {
  readonly title: string;
  readonly links: readonly NavigationLink[];
}

interface NavigationLink {
  readonly href: string;
  readonly label: string;
  readonly method?: string;
  /** Text that the filter searches in addition to the label. */
  readonly words?: string;
}

export function layout(page: Page, navigation: readonly NavigationGroup[]): string {
  const { markup } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} · Enterprise API</title>
<meta name="description" content="${page.description}">
<link rel="icon" href="/docs/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/assets/reference.css">
<script type="module" src="/docs/assets/reference.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="/docs">Enterprise API</a>
<button type="button" popovertarget="navigation">Contents</button>
</header>
${navigationOf(navigation, page.path)}
<main id="content" tabindex="-1">
<h1>${breakable(page.title)}</h1>
${page.main}
</main>
</body>
</html>
`;
  return markup;
}

/**
 * On a narrow screen, a button opens this popover without a script. On a wide screen, the style sheet shows it next to
 * the content.
 */
function navigationOf(groups: readonly NavigationGroup[], current: string): Html {
  return html`<nav id="navigation" popover aria-label="Reference">
<div class="tools">
<p class="close"><button type="button" popovertarget="navigation" popovertargetaction="hide">Close</button></p>
<p class="filter" hidden><label for="filter">Find</label> <input id="filter" type="search" autocomplete="off"></p>
</div>
${groups.map(
  ({ title, links }) => html`<section>
<h2>${title}</h2>
<ul>${links.map((link) => item(link, current))}</ul>
</section>`,
)}
</nav>`;
}

function item({ href, label, method, words }: NavigationLink, current: string): Html {
  const isCurrent = href === current;
  return html`<li${words !== undefined && html` data-words="${words}"`}><a href="${href}"${isCurrent && html` aria-current="page"`}>${
    method !== undefined && html`${methodBadge(method)} `
  }${label}</a></li>
`;
}

export function methodBadge(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}
