import { z } from 'zod';
import type { Json, JsonObject } from './types.ts';

/** Whether a schema is of what clients send or of what they get. */
export type Direction = 'input' | 'output';

/** Converts zod schemas to JSON Schema, and gathers those that have a name. */
export interface Schemas {
  /** A reference for a schema with a name, else the schema itself. */
  of(schema: z.ZodType, direction: Direction): JsonObject;
  /** Every named schema that was met, by name. */
  readonly named: ReadonlyMap<string, JsonObject>;
}

/**
 * Names are what a schema's `meta` has as `id`. A schema whose `meta` has `jsonSchema` is shown by that: what the zod
 * schema reads (a query parameter's text) is not what it means (a number).
 *
 * @throws for a schema that JSON Schema cannot express, and for one name with two meanings
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
    throw new Error(`OpenAPI: the name ${name} stands for two schemas.`);
  }
  named.set(name, definition);
}

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>;

/** What JSON Schema has no words for needs `jsonSchema` in its `meta`. */
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
      // Not an error yet: the same schema with its meta is a copy, which is converted after this one.
      jsonSchema[inexpressibleMark] = type;
    }
    delete jsonSchema.id;
    // Those of a schema that transforms are of what it reads: zod leaves them out, because it takes them for its results.
    if (Array.isArray(examples) && instead === undefined) jsonSchema.examples = examples;
    if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    delete jsonSchema.propertyNames;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    // Answers may get further fields later: a client must not refuse what it does not know.
    if (direction === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  };
}

/** Points references to the components of the document, and joins a type with null into one schema. */
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
