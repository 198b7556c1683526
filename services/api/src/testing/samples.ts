import { z } from 'zod';

/** Values for strings that are more than strings, by the field's name. */
export type KnownStrings = Readonly<Record<string, string>>;

/**
 * A value that a schema accepts, made from the schema, optional fields included. So a route that is new has a valid
 * body the day it is added; only a string with a meaning needs an entry in `known`.
 *
 * @throws for a kind of schema that it does not know, naming the field
 */
export function sampleOf(schema: z.ZodType, known: KnownStrings, name = 'body'): unknown {
  if (schema instanceof z.ZodPipe) return sampleOf(schema.in as z.ZodType, known, name);
  if (isWrapped(schema)) {
    return sampleOf(schema.unwrap() as z.ZodType, known, name);
  }
  if (schema instanceof z.ZodUnion) return sampleOf(schema.options.at(-1) as z.ZodType, known, name);
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape) as [string, z.ZodType][];
    return Object.fromEntries(fields.map(([field, type]) => [field, sampleOf(type, known, field)]));
  }
  if (schema instanceof z.ZodArray) return [sampleOf(schema.element as z.ZodType, known, name)];
  if (schema instanceof z.ZodCustom || schema instanceof z.ZodUnknown) return JSON.parse(known[name] ?? '{}');
  if (schema instanceof z.ZodEnum) return schema.options.find((option) => option === known[name]) ?? schema.options[0];
  if (schema instanceof z.ZodBoolean) return true;
  if (schema instanceof z.ZodNumber) return Math.max(1, schema.minValue ?? 1);
  if (schema instanceof z.ZodISODateTime) return known[name] ?? '2026-11-21T07:00:00Z';
  if (schema instanceof z.ZodString) return known[name] ?? 'sample';
  throw new Error(`No sample for ${name}: teach testing/samples.ts its schema.`);
}

const wrappers = [z.ZodOptional, z.ZodNullable, z.ZodDefault, z.ZodPrefault];

function isWrapped(schema: z.ZodType): schema is z.ZodOptional {
  return wrappers.some((wrapper) => schema instanceof wrapper);
}
