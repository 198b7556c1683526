import { jsonBlock } from '../code-block.ts';
import { type Html, html } from '../html.ts';
import { renderInline } from '../markdown.ts';
import { type Answer, exampleOf, type ListedOperation, type OpenApiDocument, resolved } from '../open-api.ts';
import { typeOf } from '../schema-fields.ts';
import { errorAnchor } from './guide-page.ts';

/** What an operation answers: its successes with their headers and an example, then its errors by code. */
export function answersOf(document: OpenApiDocument, { responses }: ListedOperation): Html {
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
  const example = media && exampleOf(media);
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
  return html`<a href="/docs#${errorAnchor(code)}"><code>${code}</code></a>`;
}
