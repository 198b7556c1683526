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
  if (schema instanceof z.ZodArray) return createArrayPicker(schema.element as z.ZodType, place);
  if (schema instanceof z.ZodRecord) return createRecordPicker(schema, place);
  if (schema instanceof z.ZodUnion) return createUnionPicker(schema.options as z.ZodType[], place);
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) {
    const inner = createPicker(schema.unwrap() as z.ZodType, place);
    return (value) => (value == null ? value : inner(value));
  }
  if (schema instanceof z.ZodDefault) {
    const inner = createPicker(schema.unwrap() as z.ZodType, place);
    return (value) => inner(value === undefined ? schema.def.defaultValue : value);
  }
  // What a handler returns is the output of the schema.
  if (schema instanceof z.ZodPipe) return createPicker(schema.out as z.ZodType, place);
  if (isScalar(schema) || passedOn.has(schema)) return (value) => value;
  throw new Error(`${place}: cannot pick declared fields from a schema of type "${schema.def.type}".`);
}

/** Documents whose fields are not ours to declare. */
const passedOn = new Set<z.ZodType>([anyJsonSchema, eventDataSchema]);

const scalarTypes = new Set(['string', 'number', 'int', 'boolean', 'null', 'literal', 'enum', 'template_literal']);

function isScalar(schema: z.ZodType): boolean {
  return scalarTypes.has(schema.def.type);
}

function createObjectPicker(schema: z.ZodObject, place: string): Picker {
  const { catchall } = schema.def;
  if (catchall !== undefined && !(catchall instanceof z.ZodNever)) {
    throw new Error(`${place}: cannot pick declared fields from an object that allows any others.`);
  }
  const fields = Object.entries(schema.shape).map(
    ([name, field]) => [name, createPicker(field as z.ZodType, `${place}.${name}`)] as const,
  );
  return (value) => {
    const source = value as Record<string, unknown>;
    const picked: Record<string, unknown> = {};
    for (const [name, pick] of fields) {
      const field = source[name];
      // A default fills a missing field; anything else that is missing stays so.
      if (field !== undefined || hasDefault(schema.shape[name])) picked[name] = pick(field);
    }
    return picked;
  };
}

function hasDefault(schema: unknown): boolean {
  return schema instanceof z.ZodDefault;
}

function createArrayPicker(element: z.ZodType, place: string): Picker {
  const pick = createPicker(element, `${place}[]`);
  return (value) => (value as unknown[]).map(pick);
}

/** Keeps the entries whose name the schema of the names accepts. */
function createRecordPicker(schema: z.ZodRecord, place: string): Picker {
  const pick = createPicker(schema.valueType as z.ZodType, `${place}{}`);
  return (value) => {
    const entries = Object.entries(value as Record<string, unknown>);
    const declared = entries.filter(([name]) => z.safeParse(schema.keyType, name).success);
    // `fromEntries` defines fields, also one named `__proto__`; an assignment would set the prototype.
    return Object.fromEntries(declared.map(([name, field]) => [name, pick(field)]));
  };
}

/** Picks by the member of the union that a value belongs to: a scalar, an array or an object. */
function createUnionPicker(options: readonly z.ZodType[], place: string): Picker {
  const members = options.flatMap(membersOf);
  const arrays = members.filter((member) => member instanceof z.ZodArray);
  const objects = members.filter((member) => !(member instanceof z.ZodArray || isScalar(member)));
  if (arrays.length > 1) throw ambiguous(place);
  const pickArray = arrays[0] && createPicker(arrays[0], place);
  const pickObject = createObjectsPicker(objects, place);
  return (value) => {
    if (typeof value !== 'object' || value === null) return value;
    const pick = Array.isArray(value) ? pickArray : pickObject;
    return pick === undefined ? refuse(place) : pick(value);
  };
}

function membersOf(schema: z.ZodType): z.ZodType[] {
  if (schema instanceof z.ZodUnion) return (schema.options as z.ZodType[]).flatMap(membersOf);
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional)
    return membersOf(schema.unwrap() as z.ZodType);
  return [schema];
}

/** Tells several objects apart by a field that has another literal value in each of them. */
function createObjectsPicker(members: readonly z.ZodType[], place: string): Picker | undefined {
  const [first] = members;
  if (first === undefined || members.length === 1) return first && createPicker(first, place);
  const objects = members.filter((member) => member instanceof z.ZodObject);
  const name = Object.keys(objects[0]?.shape ?? {}).find((field) => tellsApart(objects, field));
  if (name === undefined || objects.length < members.length) throw ambiguous(place);
  const pickers = new Map(
    objects.flatMap((member) => {
      const pick = createPicker(member, place);
      return literalsOf(member, name).map((literal) => [literal, pick] as const);
    }),
  );
  return (value) => pickers.get((value as Record<string, unknown>)[name])?.(value) ?? refuse(place);
}

function tellsApart(objects: readonly z.ZodObject[], name: string): boolean {
  const literals = objects.map((member) => literalsOf(member, name));
  return literals.every((some) => some.length > 0) && new Set(literals.flat()).size === literals.flat().length;
}

function literalsOf(member: z.ZodObject, name: string): unknown[] {
  const field = member.shape[name];
  return field instanceof z.ZodLiteral ? [...field.values] : [];
}

function ambiguous(place: string): Error {
  return new Error(`${place}: cannot tell the members of a union apart.`);
}

function refuse(place: string): never {
  throw new Error(`${place}: the value belongs to no member of the union.`);
}
