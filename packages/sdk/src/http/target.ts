/** Query parameters. A list becomes a repeated parameter, dates become RFC 3339, and undefined values are omitted. */
export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[]>>;
type QueryValue = string | number | boolean | Date | undefined;

/**
 * Builds the URL of a request.
 *
 * @param path begins with `/` and may contain a query
 * @throws TypeError if URL parsing would change the path
 */
export function targetOf(baseUrl: string, path: string, query: Query = {}): string {
  if (!path.startsWith('/') || isRewritten(path))
    throw new TypeError(
      'path must begin with / and have no . or .. segments, backslashes, fragments or control characters.',
    );
  const url = new URL(baseUrl + path);
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) url.searchParams.append(name, textOf(each));
  }
  return url.href;
}

/**
 * Builds a path from values: `` pathOf`/v1/webhooks/${id}` ``.
 *
 * @throws TypeError for values that would change the path: an empty value, `.` or `..`
 */
export function pathOf(parts: TemplateStringsArray, ...ids: readonly string[]): string {
  for (const id of ids) {
    if (typeof id !== 'string' || /^\.{0,2}$/.test(id))
      throw new TypeError('An id must be a string that is not empty.');
  }
  return String.raw({ raw: parts }, ...ids.map(encodeURIComponent));
}

function isRewritten(path: string): boolean {
  const [beforeQuery = ''] = path.split('?');
  return /[\\#\s]|\p{Cc}/u.test(path) || /\/(?:\.|%2e){1,2}(?:\/|$)/i.test(beforeQuery);
}

function textOf(value: string | number | boolean | Date): string {
  return value instanceof Date ? value.toISOString() : String(value);
}
