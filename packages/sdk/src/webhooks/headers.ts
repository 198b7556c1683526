/**
 * The headers of a request: the `Headers` of fetch, Node's `request.headers`, or any object whose names may be in upper
 * or lower case.
 */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A header's value; undefined when there is none. One that came several times is joined as HTTP joins them. */
export function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const values = Object.entries(headers)
    .filter(([key, value]) => key.toLowerCase() === name && value !== undefined)
    .flatMap(([, value]) => value as string | readonly string[]);
  return values.length === 0 ? undefined : values.join(', ');
}
