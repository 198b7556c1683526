import { type Html, html } from './html.ts';
import { renderInline } from './markdown.ts';
import { type JsonSchema, schemaNameOf, textOf } from './open-api.ts';

/** Lists a schema's fields, and below a field the fields of its inner object. Null for a schema without fields. */
export function fieldsOf(schema: JsonSchema): Html | null {
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return null;
  const required = new Set(schema.required);
  return html`<dl class="fields">
${fields.map(([name, field]) => fieldEntry({ name, schema: field, required: required.has(name) }))}</dl>`;
}

export interface Field {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
  readonly description?: string | undefined;
  /**
   * Location of a parameter: path, query or header; undefined for a field. By default, parameters are optional and
   * fields required.
   */
  readonly place?: string;
}

export function fieldEntry({ name, schema, required, description = schema.description, place }: Field): Html {
  const inner = innerObject(schema);
  return html`<div><dt><code>${name}</code> <span class="type">${place !== undefined && `${place}, `}${typeOf(schema)}</span>${presenceOf(required, place)}</dt><dd>${description !== undefined && html`<p>${renderInline(description)}</p>`}${rulesOf(schema)}${
    inner !== undefined && fieldsOf(inner)
  }</dd></div>
`;
}

function presenceOf(required: boolean, place: string | undefined): Html | null {
  if (place === undefined) return required ? null : html`<span class="type">, optional</span>`;
  return required ? html` <span class="required">required</span>` : null;
}

export function typeOf(schema: JsonSchema): Html {
  if (schema.$ref !== undefined) return objectLink(schemaNameOf(schema.$ref));
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum !== undefined) return html`${[...new Set(schema.enum.map(jsonTypeOf))].join(' or ')}`;
  if (schema.anyOf !== undefined) return html`${joined(schema.anyOf.map(typeOf), ' or ')}`;
  const { type = 'any', format, items } = schema;
  if (typeof type !== 'string') return html`${type.map((one) => nameOfType(one, format)).join(' or ')}`;
  if (type === 'array') return html`list of ${items === undefined ? 'anything' : typeOf(items)}`;
  return html`${nameOfType(type, format)}`;
}

function nameOfType(type: string, format: string | undefined): string {
  return type === 'string' && format === 'date-time' ? 'time' : type;
}

function jsonTypeOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}

function objectLink(name: string): Html {
  return html`<a href="/docs/objects#${name}">${name}</a>`;
}

function rulesOf(schema: JsonSchema): Html | null {
  const member = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
  const item = member.type === 'array' ? member.items : undefined;
  const rules = [
    valuesOf(member) ?? (item && valuesOf(item)),
    prefixOf(member),
    rangeOf(member.minLength, member.maxLength, 'characters'),
    rangeOf(member.minItems, member.maxItems, 'entries'),
    rangeOf(member.minimum, member.maximum, ''),
    schema.default !== undefined && html`Default: <code>${JSON.stringify(schema.default)}</code>`,
  ].filter((rule) => rule !== null && rule !== undefined && rule !== false);
  return rules.length === 0 ? null : html`<p class="rules">${joined(rules, '. ')}.</p>`;
}

export function valuesOf({ enum: values }: JsonSchema): Html | null {
  if (values === undefined) return null;
  return html`One of ${joined(
    values.map((value) => html`<code>${textOf(value)}</code>`),
    ', ',
  )}`;
}

/** Patterns of ids start with the prefix: `^evt_[0-7]…`. */
function prefixOf({ pattern }: JsonSchema): Html | null {
  const prefix = /^\^([a-z]{3,5}_)/.exec(pattern ?? '')?.[1];
  return prefix === undefined ? null : html`Begins with <code>${prefix}</code>`;
}

function rangeOf(least: number | undefined, most: number | undefined, unit: string): Html | null {
  const words = [least, most].every((bound) => bound !== undefined) ? `${least} to ${most}` : undefined;
  const one = words ?? (most !== undefined ? `At most ${most}` : least !== undefined ? `At least ${least}` : undefined);
  return one === undefined ? null : html`${`${one} ${unit}`.trim()}`;
}

function innerObject(schema: JsonSchema): JsonSchema | undefined {
  if (schema.properties !== undefined) return schema;
  return schema.items?.properties === undefined ? undefined : schema.items;
}

function joined(some: readonly Html[], separator: string): Html[] {
  return some.map((one, index) => html`${index > 0 && separator}${one}`);
}
