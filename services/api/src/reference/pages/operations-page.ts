import { curlLine } from '../curl.ts';
import { codeBlock, type Html, html, jsonBlock } from '../html.ts';
import { methodBadge, type NavigationGroup, type Page } from '../layout.ts';
import { anchorOf, renderInline, renderMarkdown } from '../markdown.ts';
import {
  type Answer,
  type JsonSchema,
  type ListedOperation,
  needsKey,
  type OpenApiDocument,
  type OrReference,
  operationsOf,
  resolved,
} from '../open-api.ts';
import { fieldEntry, fieldsOf, typeOf } from '../schema-fields.ts';
import { tryForm } from '../try-form.ts';
import { scopeLink } from './areas-page.ts';
import { errorAnchor } from './error-list.ts';

const introduction = `
Every operation that the API answers itself, from its [OpenAPI document](/openapi.json). [Areas](/docs/areas) lists the paths of other services. The \`curl\` lines use the two variables of
the [quick start](/docs#1-set-your-key).
`;

/** All operations are on one page, so that a reader pastes the key only once. */
export function operationsPage(document: OpenApiDocument): Page {
  const groups = operationsByTag(document);
  return {
    path: '/docs/operations',
    title: 'Operations',
    description: 'Every operation of the API: parameters, body, answers, errors, examples.',
    main: html`${renderMarkdown(introduction)}
${groups.map(
  ([tag, operations]) => html`<section>
<h2 id="${tagAnchor(tag)}"><a href="#${tagAnchor(tag)}">${tag}</a></h2>
${descriptionOf(document, tag)}
${operations.map((operation) => operationSection(document, operation))}
</section>
`,
)}`,
  };
}

export function operationsNavigation(document: OpenApiDocument): NavigationGroup[] {
  return operationsByTag(document).map(([tag, operations]) => ({
    title: tag,
    links: operations.map((operation) => ({
      href: `/docs/operations#${operation.operationId}`,
      label: operation.summary,
      method: operation.method,
      words: operation.path,
    })),
  }));
}

function operationsByTag(document: OpenApiDocument): [string, ListedOperation[]][] {
  const own = operationsOf(document);
  return [...Map.groupBy(own, ({ tag }) => tag)];
}

function tagAnchor(tag: string): string {
  return `tag-${anchorOf(tag)}`;
}

function descriptionOf({ tags = [] }: OpenApiDocument, tag: string): Html | undefined {
  const description = tags.find(({ name }) => name === tag)?.description;
  return description === undefined ? undefined : renderMarkdown(description);
}

function operationSection(document: OpenApiDocument, operation: ListedOperation): Html {
  const { operationId: id, method, path, summary, description } = operation;
  return html`<section class="operation">
<h3 id="${id}"><a href="#${id}">${summary}</a></h3>
<p class="endpoint">${methodBadge(method)} <code>${path}</code></p>
<p class="needs">${needsOf(operation)}</p>
${description !== undefined && renderMarkdown(withoutScope(description))}
${parametersOf(operation)}
${bodyOf(document, operation)}
<h4>curl</h4>
${codeBlock(curlLine(operation))}
${tryForm(document, operation)}
${answersOf(document, operation)}
</section>
`;
}

function needsOf(operation: ListedOperation): Html | string {
  const scope = operation['x-required-scope'];
  if (scope !== undefined) return html`Scope ${scopeLink(scope)}`;
  return needsKey(operation) ? 'Needs a key, with any scope' : 'Needs no key';
}

/** Removes the needed scope from a description, because this page shows it separately. */
function withoutScope(description: string): string {
  return description.replace(/\s*(?:Scope: `[^`]+`|Needs a key, with any scope)\.\s*/, '');
}

function parametersOf({ parameters }: ListedOperation): Html | null {
  if (parameters.length === 0) return null;
  return html`<h4>Parameters</h4>
<dl class="fields">${parameters.map(({ name, in: place, required = false, schema = {}, description }) =>
    fieldEntry({ name, place, schema, required, description }),
  )}</dl>`;
}

function bodyOf(document: OpenApiDocument, { requestBody }: ListedOperation): Html | null {
  const [[type, media] = []] = Object.entries(requestBody?.content ?? {});
  if (type === undefined || media === undefined) return null;
  const schema = resolved<JsonSchema>(document, (media.schema ?? {}) as OrReference<JsonSchema>);
  return html`<h4>Body</h4>
${requestBody?.required !== true && html`<p>It may be left out.</p>`}
${fieldsOf(schema) ?? html`<p>${type}: ${typeOf(schema)}</p>`}`;
}

function answersOf(document: OpenApiDocument, { responses }: ListedOperation): Html {
  const answers = Object.entries(responses).map(([status, answer]) => ({ status, answer: resolved(document, answer) }));
  const successes = answers.filter(({ status }) => !isError(status));
  const errors = answers.filter(({ status }) => isError(status));
  return html`<h4>Answers</h4>
<dl class="fields">${successes.map(({ status, answer }) => success(document, status, answer))}</dl>
${
  errors.length > 0 &&
  html`<h4>Errors</h4>
<dl class="errors">${errors.map(({ status, answer }) => error(status, answer))}</dl>`
}`;
}

function isError(status: string): boolean {
  return /^[45]/.test(status);
}

function success(document: OpenApiDocument, status: string, answer: Answer): Html {
  const [[type, media] = []] = Object.entries(answer.content ?? {});
  const example = media?.example;
  const headers = Object.entries(answer.headers ?? {}).map(([name, header]) => ({
    name,
    ...resolved(document, header),
  }));
  return html`<div><dt><code>${status}</code> ${
    media?.schema !== undefined && html`<span class="type">${typeOf(media.schema)}</span>`
  }${type !== undefined && type !== 'application/json' && html` <span class="type">${type}</span>`}</dt>
<dd><p>${renderInline(answer.description)}</p>${
    headers.length > 0 &&
    html`<details><summary>Headers</summary><dl class="headers">${headers.map(
      ({ name, description }) =>
        html`<div><dt><code>${name}</code></dt><dd>${description !== undefined && renderInline(description)}</dd></div>`,
    )}</dl></details>`
  }${example !== undefined && html`<details><summary>Example</summary>${jsonBlock(example)}</details>`}</dd></div>
`;
}

function error(status: string, answer: Answer): Html {
  const codes = answer['x-error-codes'] ?? [];
  const what = codes.length === 0 ? renderInline(answer.description) : codes.map((code) => html`${errorLink(code)} `);
  return html`<div><dt><code>${status}</code></dt><dd>${what}</dd></div>
`;
}

function errorLink(code: string): Html {
  return html`<a href="/docs/errors#${errorAnchor(code)}"><code>${code}</code></a>`;
}
