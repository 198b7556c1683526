import { z } from 'zod';
import { isExactNumber } from './json.ts';

/** Headers that we set ourselves, that describe the connection, or that a receiver trusts to come from us. */
const reserved =
  /^(?:user-agent|host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|traceparent|(?:content|proxy|webhook|x-service)-.*)$/i;

const maxHeaders = 10;
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
const value = /^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/;

/** @returns the problem of the headers, or null */
function problemOf(headers: unknown): string | null {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers) || isExactNumber(headers)) {
    return 'must be an object of names and values';
  }
  const entries = Object.entries(headers);
  const names = entries.map(([name]) => name);
  if (names.length > maxHeaders) return `must have at most ${maxHeaders} headers`;
  if (!names.every((name) => token.test(name))) return 'must have names that are HTTP tokens';
  if (new Set(names.map((name) => name.toLowerCase())).size < names.length) return 'must not name a header twice';
  if (names.some((name) => reserved.test(name))) return 'must not name a header that is reserved';
  return entries.every(([, text]) => typeof text === 'string' && value.test(text))
    ? null
    : 'must have values of 1 to 1,024 printable ASCII characters, without a space at either end';
}

/** The entries of `{name: value}`: a record would lose a header named `__proto__`. */
export const webhookHeadersSchema = z
  .unknown()
  .transform((headers, context): [name: string, value: string][] => {
    const message = problemOf(headers);
    if (message === null) return Object.entries(headers as Record<string, string>);
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .meta({
    description:
      'Headers that every delivery carries, for a gateway before your receiver: at most 10. No answer shows their values. Headers that we set ourselves are reserved. A new `url` of another origin needs them again.',
    jsonSchema: { type: 'object', maxProperties: maxHeaders, additionalProperties: { type: 'string' } },
  });

export type WebhookHeaders = z.output<typeof webhookHeadersSchema>;

/** The context that encryption binds to the headers. The ids are UUIDs. */
export function webhookHeadersContext(organizationId: string, webhookId: string): string {
  return `webhook-headers:${organizationId}:${webhookId}`;
}
