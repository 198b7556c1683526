import { z } from 'zod';
import { timestampSchema } from './primitives.ts';

export const defaultPageSize = 20;
export const maxPageSize = 100;

export const pageQueryShape = {
  limit: z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from 1 to ${maxPageSize}`)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= maxPageSize, `must be a whole number from 1 to ${maxPageSize}`)
    .default(defaultPageSize)
    .meta({
      description: 'How many items the page has at most.',
      jsonSchema: { type: 'integer', minimum: 1, maximum: maxPageSize, default: defaultPageSize },
    }),
  cursor: z.string().optional().describe('`next_cursor` of the page before, with the same filters.'),
};

export const orderSchema = z
  .enum(['asc', 'desc'])
  .default('desc')
  .describe('By `created_at`: the newest first (`desc`), or the oldest (`asc`).');
export type Order = z.output<typeof orderSchema>;

/** A filter that a query string may contain several times. */
export function repeatable<Item extends z.ZodType>(item: Item, atMost = 20) {
  return z
    .preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(item).min(1).max(atMost))
    .optional();
}

export const pageQuerySchema = z.strictObject(pageQueryShape);

/**
 * The response of every list, newest first by default. If the item's schema has a name, the list's schema has a name
 * and an example too.
 */
export function listSchema<Item extends z.ZodType>(item: Item): ListSchema<Item> {
  const known = listSchemas.get(item);
  if (known !== undefined) return known as ListSchema<Item>;
  const list = bareListSchema(item);
  const { id, examples = [] } = item.meta() ?? {};
  const example = { object: 'list', data: examples, has_more: false, next_cursor: null };
  const named =
    id === undefined ? list : list.meta({ id: `${id}List`, description: 'A page of a list.', examples: [example] });
  listSchemas.set(item, named);
  return named;
}

type ListSchema<Item extends z.ZodType> = ReturnType<typeof bareListSchema<Item>>;

/** One list schema for each item schema, because two schemas must not share a name. */
const listSchemas = new WeakMap<z.ZodType, z.ZodType>();

function bareListSchema<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    object: z.literal('list'),
    data: z.array(item).describe('The items of this page.'),
    has_more: z.boolean().describe('Whether there are more items behind this page.'),
    next_cursor: z.string().nullable().describe('`cursor` of the next page; null when there is none.'),
  });
}

/** As `listSchema`, for a list that can be searched. @param item must have a name */
export function searchableListSchema<Item extends z.ZodType>(item: Item) {
  const { id, examples = [] } = item.meta() ?? {};
  const example = { object: 'list', data: examples, has_more: false, next_cursor: null };
  const searched = bareListSchema(item).extend({
    searched_until: timestampSchema
      .nullable()
      .optional()
      .describe(
        'Only in answers to a search, which takes at most a second. The search compared all items down to this `created_at`, or up to it with `order=asc`. Null: it compared the whole list or, if `has_more` is true, nothing. Continue with `next_cursor`, also after an empty page.',
      ),
  });
  return searched.meta({ id: `${id}List`, description: 'A page of a list.', examples: [example] });
}

export interface Page<Item> {
  object: 'list';
  data: Item[];
  has_more: boolean;
  next_cursor: string | null;
  searched_until?: string | null;
}
