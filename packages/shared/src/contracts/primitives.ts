import { z } from 'zod';
import { isStorableText, maxTextLength } from './json.ts';

/** Every public id is its prefix, `_`, and 26 characters of lowercase Crockford base32 (TypeID layout). */
export const idPrefixes = ['org', 'key', 'whk', 'evt', 'dlv', 'att', 'aud', 'ers', 'rpl', 'ses', 'req'] as const;
export type IdPrefix = (typeof idPrefixes)[number];

const idDescriptions: Readonly<Record<IdPrefix, string>> = {
  org: 'Id of the organization.',
  key: 'Id of the API key.',
  whk: 'Id of the webhook.',
  evt: 'Id of the event.',
  dlv: 'Id of the delivery.',
  att: 'Id of the attempt.',
  aud: 'Id of the audit entry.',
  ers: 'Id of the erasure.',
  rpl: 'Id of the replay.',
  ses: 'Id of the console session.',
  req: 'Id of the request.',
};

/** A well-formed id of no existing object, for examples in documents. */
export function exampleId<Prefix extends IdPrefix>(prefix: Prefix): `${Prefix}_${string}` {
  return `${prefix}_01jd6kz5r8e2v9qxm3c7t4b0na`;
}

/**
 * The shape of a public id of one kind. The first character is at most 7, because a UUID has 128 bits, whereas 26
 * characters could hold 130.
 */
export function publicIdSchema<Prefix extends IdPrefix>(prefix: Prefix): z.ZodType<`${Prefix}_${string}`, string> {
  const schema = z
    .string()
    .regex(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`), `must be an id: ${prefix}_ and 26 characters`)
    .meta({ description: idDescriptions[prefix], examples: [exampleId(prefix)] });
  return schema as z.ZodType<string, string> as z.ZodType<`${Prefix}_${string}`, string>;
}

/** An instant in a response: RFC 3339, UTC, milliseconds. */
export const timestampSchema = z.iso.datetime({ precision: 3 });

/** An instant in a request: RFC 3339 with `Z` or an offset, any precision, years 1970 to 9999. */
export const instantSchema = z.iso
  .datetime({ offset: true, error: 'must be an RFC 3339 date and time' })
  .transform((text) => new Date(text))
  // From the year 10000 on, an ISO text begins with a sign.
  .refine((date) => date.getTime() >= 0 && !date.toISOString().startsWith('+'), 'must be between 1970 and 9999');

export const periodShape = {
  since: instantSchema.optional().describe('Only objects created at this time or later.'),
  until: instantSchema.optional().describe('Only objects created before this time.'),
};

/**
 * The error text for an `until` that is not later than `since`. If a default depends on the request's time, the service
 * checks this rule itself, with the same text.
 */
export const laterThanSince = 'must be later than since';

/** Refuses an empty period: `since` is inclusive and `until` exclusive. */
export function forwardPeriod<Schema extends z.ZodType<{ since?: Date | undefined; until?: Date | undefined }>>(
  schema: Schema,
): Schema {
  return schema.refine(({ since, until }) => since === undefined || until === undefined || since < until, {
    path: ['until'],
    error: laterThanSince,
  });
}

export const textSchema = z.string().refine(isStorableText, 'must not contain NUL or lone surrogates');

/** An address or a CIDR. The API parses it. */
export const addressRangeSchema = z.string().min(1).max(100);

/** The greatest integer that PostgreSQL stores in four bytes. */
export const maxInteger = 2 ** 31 - 1;

export const shortTextSchema = textSchema.max(maxTextLength);

export const nameSchema = shortTextSchema.min(1).describe('A name for people.');

const maxListed = 50;

export function someOf<Item extends z.ZodType>(item: Item, message?: string) {
  return z.array(item).min(1, message).max(maxListed);
}

export function distinct<Item extends z.ZodType>(item: Item, message: string, description: string) {
  return someOf(item)
    .refine((items) => new Set(items).size === items.length, message)
    .meta({ description, uniqueItems: true });
}

export function changesSchema<Shape extends z.ZodRawShape>(id: string, shape: Shape, example: object) {
  return z
    .strictObject(shape)
    .partial()
    .refine((body) => Object.keys(body).length > 0, 'must change at least one field')
    .meta({
      id,
      description: 'The fields to change; the others stay as they are.',
      minProperties: 1,
      examples: [example],
    });
}
