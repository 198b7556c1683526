import { exampleBody } from './curl.ts';
import { type Html, html } from './html.ts';
import {
  type JsonSchema,
  type ListedOperation,
  needsKey,
  type OpenApiDocument,
  type OrReference,
  type Parameter,
  resolved,
  textOf,
} from './open-api.ts';

export function tryForm(document: OpenApiDocument, operation: ListedOperation): Html {
  const { operationId: id, method, path, parameters } = operation;
  const body = exampleBody(operation);
  const text = body === undefined ? '' : JSON.stringify(body, null, 2);
  return form({
    id,
    path,
    asksForKey: needsKey(operation),
    fields: html`${parameters.map((parameter) => parameterField(id, parameter, choicesOf(document, parameter)))}${
      operation.requestBody !== undefined && bodyField(id, text)
    }`,
    button: html`<button type="submit" data-method="${method}">Send ${method}</button>`,
  });
}

export function areaForm(
  area: string,
  { path, below, methods }: { path: string; below: boolean; methods: readonly string[] },
): Html {
  const id = `area-${area}`;
  const options = methods.map((method) => html`<option>${method}</option>`);
  const input = html`<input id="${id}-below" data-in="path" data-name="below" data-below ${asWritten} placeholder="/…">`;
  return form({
    id,
    path: below ? `${path}{below}` : path,
    asksForKey: true,
    fields: html`${field({ id: `${id}-method`, label: 'Method', input: html`<select id="${id}-method" data-method-choice>${options}</select>` })}
${below && field({ id: `${id}-below`, label: `Path and query below ${path}`, input })}
${methods.some((method) => method !== 'GET') && bodyField(id, '')}`,
    button: html`<button type="submit">Send</button>`,
  });
}

interface Form {
  readonly id: string;
  readonly path: string;
  readonly asksForKey: boolean;
  readonly fields: Html;
  readonly button: Html;
}

/**
 * The page's script shows the form. Without a script the form stays hidden, because the browser would submit typed
 * values in the URL. For the same reason, no field has a name.
 */
function form({ id, path, asksForKey, fields, button }: Form): Html {
  return html`<form class="try" data-path="${path}" aria-label="Try ${id}" hidden>
<h4>Try it</h4>
${asksForKey && field({ id: `${id}-key`, label: 'API key', input: keyInput(`${id}-key`) })}
${fields}
<p class="actions">${button} <button type="button" data-stop hidden>Stop</button></p>
<div class="answer" data-answer role="status"></div>
<pre class="scrolls" data-answer-body hidden><code></code></pre>
</form>`;
}

const asWritten = html`type="text" autocomplete="off" autocapitalize="off" spellcheck="false"`;

function bodyField(id: string, text: string): Html {
  const input = html`<textarea id="${id}-body" data-body rows="${Math.min(16, Math.max(4, text.split('\n').length))}" autocomplete="off" spellcheck="false">${text}</textarea>`;
  return field({ id: `${id}-body`, label: 'Body', input });
}

/** The style sheet shows dots, because a password field would make browsers offer to store the key. */
function keyInput(id: string): Html {
  return html`<input id="${id}" class="key" data-key ${asWritten} required placeholder="nwk_…">`;
}

function choicesOf(document: OpenApiDocument, { schema = {} }: Parameter): readonly unknown[] | undefined {
  const { type, enum: values, items } = resolved<JsonSchema>(document, schema as OrReference<JsonSchema>);
  if (type === 'boolean') return [true, false];
  return values ?? (items && choicesOf(document, { name: '', in: 'query', schema: items }));
}

function parameterField(
  operationId: string,
  { name, in: place, required = false }: Parameter,
  choices: readonly unknown[] | undefined,
): Html {
  const id = `${operationId}-${place}-${name}`;
  const attributes = html`id="${id}" data-in="${place}" data-name="${name}"${required && html` required`}`;
  const input =
    choices === undefined
      ? html`<input ${attributes} ${asWritten}>`
      : html`<select ${attributes}><option value="">${required ? '' : 'not given'}</option>${choices.map(
          (value) => html`<option>${textOf(value)}</option>`,
        )}</select>`;
  return field({ id, label: name, input, note: `${place}${required ? ', required' : ''}` });
}

function field({ id, label, input, note }: { id: string; label: string; input: Html; note?: string }): Html {
  return html`<p class="field"><label for="${id}">${label}</label>${
    note !== undefined && html` <span class="type">${note}</span>`
  } ${input}</p>
`;
}
