import { type Html, html, jsonBlock } from '../html.ts';
import type { Page } from '../layout.ts';
import { renderMarkdown } from '../markdown.ts';
import type { JsonSchema, OpenApiDocument } from '../open-api.ts';
import { fieldsOf, typeOf, valuesOf } from '../schema-fields.ts';

export function objectsPage({ components }: OpenApiDocument): Page {
  return {
    path: '/docs/objects',
    title: 'Objects',
    description: 'The fields of every object that the API takes or answers.',
    main: html`<p>The fields of every object that the API takes or answers. Fields that may be missing are marked as optional.</p>
${Object.entries(components?.schemas ?? {}).map(([name, schema]) => objectSection(name, schema))}`,
  };
}

function objectSection(name: string, schema: JsonSchema): Html {
  const { description, examples } = schema;
  return html`<section>
<h2 id="${name}"><a href="#${name}">${name}</a></h2>
${description !== undefined && renderMarkdown(description)}
${fieldsOf(schema) ?? html`<p>${valuesOf(schema) ?? typeOf(schema)}</p>`}
${examples?.[0] !== undefined && jsonBlock(examples[0])}
</section>
`;
}
