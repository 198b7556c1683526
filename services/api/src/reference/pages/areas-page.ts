import { areaCatalogue, areaNames, type Scope, scopeDescriptions, scopeNames } from '@enterprise-api/shared/contracts';
import { type Html, html, scrolling } from '../html.ts';
import type { Page } from '../layout.ts';
import { renderInline, renderMarkdown } from '../markdown.ts';
import { areaForm } from '../try-form.ts';

const introduction = `
An area is a part of the service with its own paths and scopes. We check the key, the scope and the limits of each request; then the service that owns the area answers. Its owner documents its requests and
answers. If an area is not connected, we answer 404.

[Errors](/docs/errors) of the API have one shape; errors of the owner pass through unchanged. A body may have <!--areaBody-->4 MiB<!---->. We pass streams on piece by piece. We also pass \`Idempotency-Key\` on: the owner decides
whether it honours the key.
`;

export function areasPage(fillIn: (text: string) => string): Page {
  return {
    path: '/docs/areas',
    title: 'Areas and scopes',
    description: 'The paths of other services, and the scope that each method needs.',
    main: html`${renderMarkdown(fillIn(introduction))}
<h2 id="areas"><a href="#areas">Areas</a></h2>
${areaNames.map(areaSection)}
<h2 id="scopes"><a href="#scopes">Scopes</a></h2>
<p>If a key lacks the scope that an operation needs, the answer is 403 <code>forbidden_scope</code>. Sessions of the console may also have <code>keys:read</code> and <code>keys:write</code>, which show and change API keys. No key has these two, not even with <code>*</code>.</p>
${scrolling(html`<table>
<thead><tr><th scope="col">Scope</th><th scope="col">Grants</th></tr></thead>
<tbody>${scopeNames.map(scopeRow)}</tbody>
</table>`)}`,
  };
}

function areaSection(area: (typeof areaNames)[number]): Html {
  const { path, below, scopes, exception } = areaCatalogue[area];
  const methodsOf = new Map<string, string[]>();
  for (const [method, scope] of Object.entries(scopes)) methodsOf.set(scope, [...(methodsOf.get(scope) ?? []), method]);
  return html`<section class="area">
<h3 id="area-${area}"><a href="#area-${area}">${area}</a></h3>
<p><code>${path}</code>${below && ' and every path below it'}</p>
<dl class="scopes">
${[...methodsOf].map(([scope, methods]) => html`<div><dt>${methods.join(', ')}</dt><dd>${scopeLink(scope)}</dd></div>`)}
${
  exception !== undefined &&
  html`<div><dt>${exception.method} <code>${exception.path}</code></dt><dd>${scopeLink(exception.scope)}</dd></div>`
}
<div><dt>Other methods</dt><dd>405 <code>method_not_allowed</code></dd></div>
</dl>
${areaForm(area, { path, below, methods: Object.keys(scopes).filter((method) => method !== 'HEAD') })}
</section>
`;
}

function scopeRow(scope: Scope): Html {
  return html`<tr id="${scopeAnchor(scope)}"><td><code>${scope}</code></td><td>${renderInline(scopeDescriptions[scope])}</td></tr>
`;
}

export function scopeLink(scope: string): Html {
  return html`<a href="/docs/areas#${scopeAnchor(scope)}"><code>${scope}</code></a>`;
}

function scopeAnchor(scope: string): string {
  return scope === '*' ? 'scope-all' : `scope-${scope.replace(/[:.]/g, '-')}`;
}
