import type { ErrorDetail } from '@enterprise-api/shared/contracts';
import { mapInSlices } from '@enterprise-api/shared/runtime';
import { z } from 'zod';
import { type Parsed, parseWith } from './zod-issues.ts';

/**
 * As `parseWith`. A list in an object of its own, such as `{"events": […]}`, is parsed item by item, and requests of
 * others come in between: a thousand events held them up for 10 ms, and for 200 in a process that has just started.
 */
export async function parseInSlices<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  location: ErrorDetail['location'],
): Promise<Parsed<z.output<Schema>>> {
  const list = listOf(schema);
  const outer = list?.outer.safeParse(input);
  if (list === null || !outer?.success) return parseWith(schema, input, location);
  const parsed = await mapInSlices(outer.data[list.name] as unknown[], (item) => list.element.safeParse(item));
  const items = parsed.flatMap((item) => (item.success ? [item.data] : []));
  // What is wrong is described with its place in the whole body.
  if (items.length < parsed.length) return parseWith(schema, input, location);
  return { ok: true, value: { [list.name]: items } as z.output<Schema> };
}

interface List {
  name: string;
  element: z.ZodType;
  /** The schema without what it says of the items. */
  outer: z.ZodObject;
}

const known = new WeakMap<z.ZodType, List | null>();

/** The list of a schema that is an object with this one field and no checks of its own. */
function listOf(schema: z.ZodType): List | null {
  let list = known.get(schema);
  if (list === undefined) {
    list = findList(schema);
    known.set(schema, list);
  }
  return list;
}

function findList(schema: z.ZodType): List | null {
  if (!(schema instanceof z.ZodObject) || (schema.def.checks ?? []).length > 0) return null;
  const [field, ...others] = Object.entries(schema.shape);
  if (field === undefined || others.length > 0 || !(field[1] instanceof z.ZodArray)) return null;
  const [name, array] = field;
  const unread = new z.ZodArray({ ...array.def, element: z.unknown() });
  return {
    name,
    element: array.element as z.ZodType,
    outer: new z.ZodObject({ ...schema.def, shape: { [name]: unread } }),
  };
}
