import { z } from 'zod';

export const defaultPageSize = 20;
export const maxPageSize = 100;

/** `limit` and `cursor` of the query string, the same for every list. */
export const pageQueryShape = {
  limit: z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from 1 to ${maxPageSize}`)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= maxPageSize, `must be a whole number from 1 to ${maxPageSize}`)
    .default(defaultPageSize),
  cursor: z.string().optional(),
};

/** The order of a list's rows by `created_at`: newest first unless the oldest are asked for first. */
export const orderSchema = z.enum(['asc', 'desc']).default('desc');
export type Order = z.output<typeof orderSchema>;

/** A filter that may be given once or several times in a query string. */
export function repeatable<Item extends z.ZodType>(item: Item) {
  return z
    .preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(item).min(1).max(20))
    .optional();
}

/** The query of a list without filters. */
export const pageQuerySchema = z.strictObject(pageQueryShape);

/** The answer of every list: newest first, where no other order is asked for. */
export function listSchema<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    object: z.literal('list'),
    data: z.array(item),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
  });
}

/** One page of a list as services return it. */
export interface Page<Item> {
  object: 'list';
  data: Item[];
  has_more: boolean;
  next_cursor: string | null;
}
