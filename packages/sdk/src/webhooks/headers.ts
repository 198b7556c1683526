/** The headers of a request: the `Headers` of fetch, Node's `request.headers`, or any object with names in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns a header's value, or undefined. Repeated headers are joined as HTTP defines. */
export function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const values = Object.entries(headers)
    .filter(([key, value]) => key.toLowerCase() === name && value !== undefined)
    .flatMap(([, value]) => value as string | readonly string[]);
  return values.length === 0 ? undefined : values.join(', ');
}
