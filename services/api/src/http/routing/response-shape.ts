import { anyJsonSchema, eventDataSchema } from '@enterprise-api/shared/contracts';
import { z } from 'zod';

/** Keeps the fields that a schema declares and drops the others. */
export type Picker = (value: unknown) => unknown;

/**
 * Makes the function that removes undeclared fields from an answer, so that a column that a query selects by mistake
 * does not leave the process. It does not validate: tests do, with the same schema; here it would cost on every request.
 *
 * @param place where the schema stands, for the error
 * @throws for a schema that it cannot pick from, when the process starts
 */
export function createPicker(schema: z.ZodType, place = 'response'): Picker {
  if (schema instanceof z.ZodObject) return createObjectPicker(schema, place);
  if (hasNoFields(schema) || passedOn.has(schema)) return (value) => value;
  if (schema instanceof z.ZodArray) {
    const pick = createPicker(schema.element as z.ZodType, `${place}[]`);
    return (value) => (value as unknown[]).map(pick);
  }
  if (schema instanceof z.ZodRecord && schema.keyType instanceof z.ZodString) {
    const pick = createPicker(schema.valueType as z.ZodType, `${place}{}`);
    const picked = ([name, field]: [string, unknown]) => [name, pick(field)] as const;
    // `fromEntries` defines fields, also one named `__proto__`; an assignment would set the prototype.
    return (value) => Object.fromEntries(Object.entries(value as Record<string, unknown>).map(picked));
  }
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) {
    const pick = createPicker(schema.unwrap() as z.ZodType, place);
    return (value) => (value == null ? value : pick(value));
  }
  throw new Error(`${place}: cannot pick declared fields from a schema of type "${schema.def.type}".`);
}

/** Documents whose fields are not ours to declare. */
const passedOn = new Set<z.ZodType>([anyJsonSchema, eventDataSchema]);

const scalarTypes = new Set(['string', 'number', 'int', 'boolean', 'null', 'literal', 'enum', 'template_literal']);

function hasNoFields(schema: z.ZodType): boolean {
  if (schema instanceof z.ZodUnion) return (schema.options as z.ZodType[]).every(hasNoFields);
  if (schema instanceof z.ZodArray) return hasNoFields(schema.element as z.ZodType);
  return scalarTypes.has(schema.def.type);
}

function createObjectPicker({ shape, def: { catchall } }: z.ZodObject, place: string): Picker {
  if (catchall !== undefined && !(catchall instanceof z.ZodNever)) {
    throw new Error(`${place}: cannot pick declared fields from an object that allows any others.`);
  }
  const fields = Object.entries(shape).map(
    ([name, field]) => [name, createPicker(field as z.ZodType, `${place}.${name}`)] as const,
  );
  return (value) => {
    const picked: Record<string, unknown> = {};
    for (const [name, pick] of fields) {
      const field = (value as Record<string, unknown>)[name];
      if (field !== undefined) picked[name] = pick(field);
    }
    return picked;
  };
}
