import { isUtf8 } from 'node:buffer';
import { type ErrorDetail, parseExactJson } from '@enterprise-api/shared/contracts';
import { formatPath } from './zod-issues.ts';

export interface JsonLimits {
  /** Objects and arrays inside each other; the outermost counts as 1. */
  maxDepth: number;
  maxKeys: number;
}

export type ParsedJson =
  | { ok: true; value: unknown }
  | { ok: false; code: 'invalid_json' }
  | { ok: false; code: 'validation_failed'; detail: ErrorDetail };

type Flaw = { path: (string | number)[]; code: string; message: string };

interface Container {
  /** Names seen so far; null in an array. */
  readonly keys: Set<string> | null;
  place: string | number;
}

/**
 * Parses JSON more strictly than `JSON.parse`: valid UTF-8 without a byte order mark, no name twice in an object (two
 * parsers would see two documents), bounded depth and number of names, no NUL and no lone surrogate, which PostgreSQL
 * would refuse. Long numbers stay as they were written. `__proto__` is a name like any other: `JSON.parse` makes it a
 * field of the object, and nothing behind it copies fields by assignment.
 */
export function parseJson(bytes: Buffer, limits: JsonLimits): ParsedJson {
  if (!isUtf8(bytes)) return { ok: false, code: 'invalid_json' };
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch {
    return { ok: false, code: 'invalid_json' };
  }
  const flaw = findFlaw(text, limits);
  if (flaw === null) return { ok: true, value };
  const { code, message } = flaw;
  return {
    ok: false,
    code: 'validation_failed',
    detail: { location: 'body', path: formatPath(flaw.path), code, message },
  };
}

const quote = 0x22;

/** Scans once over text that is known to be valid JSON. */
function findFlaw(text: string, limits: JsonLimits): Flaw | null {
  const stack: Container[] = [];
  let keyCount = 0;
  let awaitsKey = false;
  // Without an escape, valid UTF-8 holds neither NUL nor surrogates inside a JSON string.
  const mayBeUnstorable = text.includes('\\u');
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const top = stack.at(-1);
    if (code === quote) {
      const end = endOfString(text, at);
      const token = text.slice(at, end + 1);
      const isKey = awaitsKey && top?.keys != null;
      const flaw = stringFlaw(token, isKey ? top : undefined, mayBeUnstorable);
      if (flaw !== null) return { path: pathOf(stack, isKey ? 1 : 0, flaw.at), ...flaw.flaw };
      if (isKey && ++keyCount > limits.maxKeys) return tooMany(limits);
      if (isKey) awaitsKey = false;
      at = end;
    } else if (code === 0x7b || code === 0x5b) {
      if (stack.length >= limits.maxDepth) return tooDeep(stack, limits);
      awaitsKey = code === 0x7b;
      stack.push(awaitsKey ? { keys: new Set(), place: '' } : { keys: null, place: 0 });
    } else if (code === 0x7d || code === 0x5d) {
      stack.pop();
    } else if (code === 0x2c && top !== undefined) {
      if (top.keys === null) top.place = Number(top.place) + 1;
      else awaitsKey = true;
    }
  }
  return null;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
  return backslashes % 2 === 1;
}

/** Checks a string token. If it is a name, adds it to the names of its object. */
function stringFlaw(
  token: string,
  object: Container | undefined,
  mayBeUnstorable: boolean,
): { at: string | null; flaw: Omit<Flaw, 'path'> } | null {
  const plain = !token.includes('\\');
  if (object === undefined && (plain || !mayBeUnstorable)) return null;
  const text: string = plain ? token.slice(1, -1) : JSON.parse(token);
  if (!plain && (text.includes('\0') || !text.isWellFormed())) {
    const flaw = { code: 'invalid_text', message: 'must not contain NUL or lone surrogates' };
    return { at: object === undefined ? null : text, flaw };
  }
  if (object?.keys == null) return null;
  if (object.keys.has(text)) return { at: text, flaw: { code: 'duplicate_field', message: 'appears more than once' } };
  object.keys.add(text);
  object.place = text;
  return null;
}

function pathOf(stack: readonly Container[], dropped: number, last: string | null): (string | number)[] {
  const path = stack.slice(0, stack.length - dropped).map((container) => container.place);
  return last === null ? path : [...path, last.toWellFormed()];
}

function tooDeep(stack: readonly Container[], limits: JsonLimits): Flaw {
  return {
    path: pathOf(stack, 0, null),
    code: 'too_deep',
    message: `must not be nested deeper than ${limits.maxDepth}`,
  };
}

function tooMany(limits: JsonLimits): Flaw {
  return { path: [], code: 'too_many_fields', message: `must not have more than ${limits.maxKeys} fields in all` };
}
