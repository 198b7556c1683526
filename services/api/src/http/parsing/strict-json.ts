import { isUtf8 } from 'node:buffer';
import { type ErrorDetail, parseExactJson } from '@enterprise-api/shared/contracts';
import { invalid, type Problem } from '../problem.ts';
import { formatPath } from './zod-issues.ts';

export interface JsonLimits {
  /** Maximum nesting of objects and arrays; the outermost counts as 1. */
  maxDepth: number;
  maxKeys: number;
}

/**
 * Parses JSON more strictly than `JSON.parse`. It requires valid UTF-8 without a byte order mark, and bounds depth and
 * number of names. It refuses a repeated name in an object, because parsers disagree on which value counts. It refuses
 * NUL and lone surrogates, which PostgreSQL would refuse.
 *
 * Long numbers keep their digits. `__proto__` is an ordinary name: `JSON.parse` makes it a field, and no later code
 * copies fields by assignment.
 */
export function parseJson(bytes: Buffer, limits: JsonLimits): { value: unknown } | Problem {
  if (!isUtf8(bytes)) return invalid([notJson], 'invalid_json');
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch (error) {
    // A RangeError comes from valid JSON whose depth exhausted the call stack. The scan below refuses its depth.
    if (!(error instanceof RangeError)) return invalid([notJson], 'invalid_json');
  }
  const flaw = findFlaw(text, limits);
  return flaw === null ? { value } : invalid([flaw]);
}

const notJson: ErrorDetail = { location: 'body', path: '', code: 'invalid_json', message: 'is not valid JSON' };

/** Scans valid JSON text once, because the parsed value no longer shows repeated names. */
function findFlaw(text: string, { maxDepth, maxKeys }: JsonLimits): ErrorDetail | null {
  /** The enclosing objects and arrays with their names so far and their current name or index. */
  const around: { names: Set<string>; at: string | number }[] = [];
  const flaw = (code: string, message: string): ErrorDetail => {
    const path = formatPath(around.map(({ at }) => at)).toWellFormed();
    return { location: 'body', path, code, message };
  };
  let names = 0;
  let end = 0;
  for (let at = 0; at < text.length; at = end) {
    const mark = text[at];
    const inside = around.at(-1);
    end = at + 1;
    if (mark === '[' || mark === '{') {
      if (around.length === maxDepth) return flaw('too_deep', `must not be nested deeper than ${maxDepth}`);
      around.push({ names: new Set(), at: mark === '[' ? 0 : '' });
    } else if (mark === ']' || mark === '}') {
      around.pop();
    } else if (mark === ',') {
      if (typeof inside?.at === 'number') inside.at += 1;
    } else if (mark === '"') {
      end = endOfString(text, at);
      const token = text.slice(at, end);
      const hasEscape = token.includes('\\');
      const isName = isColonAt(text, end);
      // Without an escape, a JSON string in valid UTF-8 contains neither NUL nor surrogates.
      if (!isName && !hasEscape) continue;
      const string: string = hasEscape ? JSON.parse(token) : token.slice(1, -1);
      if (inside !== undefined && isName) inside.at = string;
      if (string.includes('\0') || !string.isWellFormed()) {
        return flaw('invalid_text', 'must not contain NUL or lone surrogates');
      }
      if (inside === undefined || !isName) continue;
      if (inside.names.has(string)) return flaw('duplicate_field', 'appears more than once');
      inside.names.add(string);
      names += 1;
      if (names > maxKeys) {
        return { ...flaw('too_many_fields', `must not have more than ${maxKeys} fields in total`), path: '' };
      }
    }
  }
  return null;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

const colon = /\s*:/y;

function isColonAt(text: string, at: number): boolean {
  colon.lastIndex = at;
  return colon.test(text);
}
