/**
 * Parses a query string into names and values: a string, or an array for a repeated name. The object has no prototype, so
 * that a parameter such as `constructor` is as unknown as any other.
 */
export function parseQuery(query: string): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = Object.create(null);
  if (query === '') return values;
  for (const [name, value] of new URLSearchParams(query)) {
    const before = values[name];
    if (before === undefined) values[name] = value;
    else if (typeof before === 'string') values[name] = [before, value];
    else before.push(value);
  }
  return values;
}
