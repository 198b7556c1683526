import { isUtf8 } from 'node:buffer';
import { invalid, type Problem } from '../problem.ts';

export interface RequestTarget {
  /** The path, percent-decoded once. If the target is refused, the path as received. */
  readonly path: string;
  readonly query: string;
  /** 400 if two programs may read the path differently, else null. */
  readonly refusal: Problem | null;
}

/**
 * Reads a request target. The forwarder passes the target on as received. So this function refuses paths that the
 * upstream might read as another resource. It refuses dot segments and empty segments. It also refuses characters that
 * some servers ignore, or read as a slash or as the path's end.
 *
 * @param target as received; each character is one byte
 */
export function readTarget(target: string): RequestTarget {
  const mark = target.indexOf('?');
  const rawPath = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? '' : target.slice(mark + 1);
  if (rawPath === '*') return { path: rawPath, query, refusal: null };
  if (!rawPath.startsWith('/')) return refused(pathOfAbsoluteForm(rawPath), query, 'must begin with a slash');
  const path = decodeOnce(rawPath);
  if (path === null) return refused(rawPath, query, 'must be percent-encoded UTF-8');
  const wrong = wrongCharacter(rawPath, path) ?? wrongSegment(path);
  return wrong === null ? { path, query, refusal: null } : refused(rawPath, query, wrong);
}

export function isApiPath(path: string): boolean {
  return isAtOrBelow(path, '/v1') || isAtOrBelow(path, '/scim/v2');
}

/** Whether errors have SCIM's shape. Decodes a refused path leniently to see which API the client meant. */
export function isScimTarget({ path, refusal }: RequestTarget): boolean {
  if (refusal === null) return isAtOrBelow(path, '/scim/v2');
  const visible = path.replace(/%([2-7][0-9a-f])/gi, (_, digits: string) => characterOf(digits));
  return /^\/scim\/v2(?:[/\\#%]|$)/.test(visible);
}

function isAtOrBelow(path: string, base: string): boolean {
  return path.startsWith(base) && (path.length === base.length || path[base.length] === '/');
}

function refused(path: string, query: string, message: string): RequestTarget {
  return { path, query, refusal: invalid([{ location: 'path', path: '', code: 'invalid_format', message }]) };
}

function pathOfAbsoluteForm(target: string): string {
  return URL.parse(target)?.pathname ?? target;
}

/**
 * @returns null for a malformed `%…` or for bytes that are not UTF-8. Also null if raw and encoded bytes together form
 *   one character, because decoders read such a character in different ways.
 */
function decodeOnce(rawPath: string): string | null {
  if (/%(?![0-9a-f]{2})/i.test(rawPath) || !isUtf8(Buffer.from(rawPath, 'latin1'))) return null;
  const text = rawPath.replace(/%(..)/g, (_, digits: string) => characterOf(digits));
  const bytes = Buffer.from(text, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}

function characterOf(hexDigits: string): string {
  return String.fromCharCode(Number.parseInt(hexDigits, 16));
}

function wrongCharacter(rawPath: string, path: string): string | null {
  if (/#|\\|%2f|%5c/i.test(rawPath)) return 'must not contain a fragment, a backslash or an encoded slash';
  if (/\p{Cc}/u.test(path)) return 'must not contain control characters';
  return rawPath.includes(' ') ? 'must not contain spaces' : null;
}

/** Ignores `;…` in each segment, because some servers drop this part: `..;x` counts as a dot segment. */
function wrongSegment(path: string): string | null {
  const segments = path.slice(1).split('/');
  if (segments.at(-1) === '') segments.pop();
  const names = segments.map((segment) => segment.split(';', 1)[0]);
  if (names.includes('')) return 'must not contain an empty segment';
  return names.includes('.') || names.includes('..') ? 'must not contain dot segments' : null;
}

/**
 * Parses a query string into strings; a repeated name gives an array. The object has no prototype, so a parameter named
 * `constructor` is unknown like any other.
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
