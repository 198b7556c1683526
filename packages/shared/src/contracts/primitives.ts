import { z } from 'zod';
import { isExactNumber } from './exact-json.ts';

/** Every public id is its prefix, `_`, and 26 characters of lowercase Crockford base32 (TypeID layout). */
export const idPrefixes = ['org', 'key', 'whk', 'evt', 'dlv', 'att', 'aud', 'req'] as const;
export type IdPrefix = (typeof idPrefixes)[number];

/** An id for examples in documents. It is well formed, and belongs to nothing. */
export function exampleId<Prefix extends IdPrefix>(prefix: Prefix): `${Prefix}_${string}` {
  return `${prefix}_01jd6kz5r8e2v9qxm3c7t4b0na`;
}

/** The shape of a public id of one kind. The first character is at most 7, because a UUID has 128 bits, not 130. */
export function publicIdSchema<Prefix extends IdPrefix>(prefix: Prefix): z.ZodType<`${Prefix}_${string}`, string> {
  const schema = z
    .string()
    .regex(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`), 'must be an id of this kind')
    .meta({ examples: [exampleId(prefix)] });
  return schema as z.ZodType<string, string> as z.ZodType<`${Prefix}_${string}`, string>;
}

/** An instant in an answer: RFC 3339, UTC, milliseconds. */
export const timestampSchema = z.iso.datetime({ precision: 3 });

/** An instant in a request: RFC 3339 with `Z` or an offset, any precision, years 1970 to 9999. */
export const instantSchema = z.iso
  .datetime({ offset: true, error: 'must be an RFC 3339 date and time' })
  .transform((text) => new Date(text))
  .refine((date) => date.getTime() >= 0 && date.getTime() < 253_402_300_800_000, 'must be between 1970 and 9999');

/** `since` and `until` of a list's query; see {@link forwardPeriod}. */
export const periodShape = {
  since: instantSchema.optional().describe('Only what was created at this time or later.'),
  until: instantSchema.optional().describe('Only what was created before this time.'),
};

/** What `until` must be. A default that is known only at the time of the request is checked there, with the same text. */
export const laterThanSince = 'must be later than since';

/** Refuses a period that contains nothing: `since` is inclusive and `until` exclusive. */
export function forwardPeriod<Schema extends z.ZodType<{ since?: Date | undefined; until?: Date | undefined }>>(
  schema: Schema,
): Schema {
  return schema.refine(({ since, until }) => since === undefined || until === undefined || since < until, {
    path: ['until'],
    error: laterThanSince,
  });
}

/** Text that both PostgreSQL and JSON can store: no NUL, no lone surrogates. */
export const textSchema = z
  .string()
  .refine((text) => !text.includes('\0') && text.isWellFormed(), 'must not contain NUL or lone surrogates');

/** A place in JSON that cannot be stored, and the reason. */
export type Unstorable = { path: (string | number)[]; reason: string };

/** JSON nested deeper than this is refused everywhere. */
export const maxJsonDepth = 20;

/**
 * Finds the first place in parsed JSON that cannot be stored: deeper than {@link maxJsonDepth}, a string or key with
 * NUL or a lone surrogate, or a number beyond a double's range. Walks with its own stack, so that depth cannot exhaust
 * the call stack.
 */
export function findUnstorable(root: unknown): Unstorable | null {
  const pending: { value: unknown; depth: number; path: (string | number)[] }[] = [{ value: root, depth: 1, path: [] }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, depth, path } = next;
    if (typeof value === 'string') {
      if (!isStorable(value)) return { path, reason: 'must not contain NUL or lone surrogates' };
    } else if (typeof value === 'number') {
      // JSON.parse turns 1e999 into Infinity, which JSON.stringify would turn into null.
      if (!Number.isFinite(value)) return { path, reason: 'must be a number that JSON can carry' };
    } else if (typeof value === 'object' && value !== null && !isExactNumber(value)) {
      if (depth > maxJsonDepth) return { path, reason: `must not be nested deeper than ${maxJsonDepth}` };
      for (const [key, child] of Object.entries(value)) {
        const place = Array.isArray(value) ? Number(key) : key;
        if (!isStorable(key)) return { path, reason: 'must not have keys with NUL or lone surrogates' };
        pending.push({ value: child, depth: depth + 1, path: [...path, place] });
      }
    }
  }
  return null;
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
