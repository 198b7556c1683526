import { z } from 'zod';
import type { Json, JsonObject } from './types.ts';

/** Clients send `input` and get `output`. */
export type Direction = 'input' | 'output';

export interface Schemas {
  /** Returns a reference if the schema has a name, else the schema itself. */
  of(schema: z.ZodType, direction: Direction): JsonObject;
  readonly named: ReadonlyMap<string, JsonObject>;
}

/**
 * The `id` in a schema's `meta` is its name. If `meta` has `jsonSchema`, the document shows `jsonSchema` instead of the
 * zod schema. The two schemas differ where zod reads a text that means a number, such as a query parameter.
 *
 * @throws if JSON Schema cannot express a schema, or if one name has two meanings
 */
export function createSchemas(): Schemas {
  const named = new Map<string, JsonObject>();
  return {
    named,
    of: (schema, direction) => {
      const options = { io: direction, unrepresentable: 'any', override: overrideFor(direction) } as const;
      const { properties, $defs = {} } = z.toJSONSchema(z.object({ root: schema }), options);
      for (const [name, definition] of Object.entries($defs))
        remember(named, name, tidy(definition as Json) as JsonObject);
      return tidy((properties as { root: Json }).root) as JsonObject;
    },
  };
}

function remember(named: Map<string, JsonObject>, name: string, definition: JsonObject): void {
  const known = named.get(name);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(definition)) {
    throw new Error(`OpenAPI: two schemas have the name ${name}.`);
  }
  named.set(name, definition);
}

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>;

/** JSON Schema cannot express these types: they need `jsonSchema` in their `meta`. */
const inexpressibleMark = 'x-inexpressible';
const inexpressible = new Set(['custom', 'transform', 'undefined', 'date', 'bigint', 'symbol', 'map', 'set']);

function overrideFor(direction: Direction): Override {
  return ({ zodSchema, jsonSchema }) => {
    const { jsonSchema: instead, description, examples } = z.globalRegistry.get(zodSchema) ?? {};
    const { type } = zodSchema._zod.def;
    if (instead !== undefined) {
      for (const name of Object.keys(jsonSchema)) delete jsonSchema[name];
      Object.assign(jsonSchema, description !== undefined && { description }, instead);
    } else if (inexpressible.has(type)) {
      // Do not throw yet: zod later converts a copy of this schema, and the copy has the schema's `meta`.
      jsonSchema[inexpressibleMark] = type;
    }
    if (type === 'literal' && jsonSchema.const !== undefined)
      jsonSchema.description ??= `Always \`${String(jsonSchema.const)}\`.`;
    delete jsonSchema.id;
    // A transforming schema's examples describe its input. zod omits them, because it takes them for examples of the
    // output.
    if (Array.isArray(examples) && instead === undefined) jsonSchema.examples = examples;
    if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    delete jsonSchema.propertyNames;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    // Responses may get more fields later, so a client must not reject unknown fields.
    if (direction === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  };
}

/** Points references to the document's components, and merges a type and null into one schema. */
function tidy(value: Json): Json {
  if (Array.isArray(value)) return value.map(tidy);
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, [inexpressibleMark]: type, ...rest } = value as JsonObject;
  if (type !== undefined)
    throw new Error(`OpenAPI: a schema of type "${type as string}" needs \`jsonSchema\` in its meta.`);
  const entries = Object.entries(rest).map(([name, part]) => [name, tidy(part as Json)] as const);
  const tidied = joinNull(Object.fromEntries(entries));
  return typeof $ref === 'string' ? { $ref: $ref.replace('#/$defs/', '#/components/schemas/'), ...tidied } : tidied;
}

function joinNull(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [first, second] = anyOf as [JsonObject, JsonObject];
  if (second.type !== 'null' || typeof first.type !== 'string' || first.enum !== undefined) return schema;
  return { ...first, ...rest, type: [first.type, 'null'] };
}
