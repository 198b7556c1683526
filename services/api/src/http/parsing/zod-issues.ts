import type { ErrorDetail } from '@enterprise-api/shared/contracts';
import type { z } from 'zod';

type Location = ErrorDetail['location'];
export type Issue = z.core.$ZodIssue;

/** A path may quote field names from the request, so its length is bounded. */
const maxPathLength = 200;

/**
 * Converts zod issues into error details, one per path. Texts come from the schema's own message or from {@link
 * messageOf}.
 */
export function detailsOf(issues: readonly Issue[], location: Location, input: unknown): ErrorDetail[] {
  return withoutRepeats(issues.flatMap((issue) => toDetails(issue, location, input)));
}

/** For example `events[1]` or `data.items[3].name`. */
export function formatPath(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>(
    (left, part) => (typeof part === 'number' ? `${left}[${part}]` : `${left}${left === '' ? '' : '.'}${String(part)}`),
    '',
  );
  return text.length <= maxPathLength ? text : `${text.slice(0, maxPathLength)}…`;
}

function toDetails(issue: Issue, location: Location, input: unknown): ErrorDetail[] {
  if (issue.code === 'unrecognized_keys') {
    const code = location === 'query' ? 'unknown_parameter' : 'unknown_field';
    const message = location === 'query' ? 'is not a known parameter' : 'is not a known field';
    return issue.keys.map((key) => ({ location, path: formatPath([...issue.path, key]), code, message }));
  }
  const path = formatPath(location === 'query' ? placeInQuery(issue.path, input) : issue.path);
  if (location === 'query' && isRepeated(issue, input)) {
    return [{ location, path, code: 'repeated', message: 'must be given once' }];
  }
  return [{ location, path, code: codeOf(issue, input), message: issue.message }];
}

/** A repeatable parameter that was sent once is a string, so the path of its issue gets no index. */
function placeInQuery(path: readonly PropertyKey[], input: unknown): readonly PropertyKey[] {
  return typeof valueAt(input, path.slice(0, 1)) === 'string' ? path.slice(0, 1) : path;
}

/**
 * Whether a parameter that may occur only once was repeated: its value is an array. If a parameter may be repeated, its
 * issues concern an item or the number of items.
 */
function isRepeated(issue: Issue, input: unknown): boolean {
  const [name, ...rest] = issue.path;
  const value = (input as Record<PropertyKey, unknown>)[name as PropertyKey];
  return Array.isArray(value) && rest.length === 0 && issue.code !== 'too_big' && issue.code !== 'too_small';
}

function codeOf(issue: Issue, input: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return valueAt(input, issue.path) === undefined ? 'required' : 'invalid_type';
    case 'too_big':
    case 'too_small':
    case 'invalid_format':
    case 'invalid_value':
      return issue.code;
    default:
      return 'invalid_value';
  }
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((value, part) => (value as Record<PropertyKey, unknown> | null | undefined)?.[part], input);
}

export function messageOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${withArticle(issue.expected)}`;
    case 'invalid_value':
      return `must be one of: ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return amount(issue.origin, 'at least', Number(issue.minimum));
    case 'too_big':
      return amount(issue.origin, 'at most', Number(issue.maximum));
    default:
      return 'is not valid';
  }
}

const names: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

function withArticle(expected: string): string {
  return names[expected] ?? 'of another type';
}

function amount(origin: string, bound: string, count: number): string {
  const unit = origin === 'string' ? 'character' : origin === 'array' ? 'item' : null;
  return unit === null ? `must be ${bound} ${count}` : `must have ${bound} ${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Keeps the first issue of each path: one field can fail both its type and a refinement. */
function withoutRepeats(details: readonly ErrorDetail[]): ErrorDetail[] {
  const seen = new Set<string>();
  return details.filter((detail) => {
    const key = `${detail.location} ${detail.path}`;
    return !seen.has(key) && seen.add(key);
  });
}
