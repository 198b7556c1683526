import { z } from 'zod';

/** Keeps what a schema declares, drops the rest. */
export type Picker = (value: unknown) => unknown;

/**
 * Makes the function that strips an answer of undeclared fields: what a query selects too much does not leave the
 * process. It does not validate; that is what tests do with the same schema, and it would cost on every request.
 */
export function createPicker(schema: z.ZodType): Picker {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) {
    const inner = createPicker(schema.unwrap() as z.ZodType);
    return (value) => (value == null ? value : inner(value));
  }
  if (schema instanceof z.ZodArray) {
    const item = createPicker(schema.element as z.ZodType);
    return (value) => (value as unknown[]).map(item);
  }
  return schema instanceof z.ZodObject ? createObjectPicker(schema) : (value) => value;
}

function createObjectPicker(schema: z.ZodObject): Picker {
  const fields = Object.entries(schema.shape).map(([name, field]) => [name, createPicker(field as z.ZodType)] as const);
  return (value) => {
    const source = value as Record<string, unknown>;
    const picked: Record<string, unknown> = {};
    for (const [name, pick] of fields) {
      if (source[name] !== undefined) picked[name] = pick(source[name]);
    }
    return picked;
  };
}
