import stringWidth from 'string-width';

const segmenter = new Intl.Segmenter();
// Control characters, and characters that reorder text. They could move the cursor, clear the screen or disguise other
// text.
const unsafe = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069\uFEFF]/gu;

/** Makes text safe for one line of a terminal: control characters become visible escapes. */
export function oneLine(text: string): string {
  return text.replace(unsafe, (char) => escapes[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Like {@link oneLine}, but keeps line breaks and tabs. */
export function manyLines(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(unsafe, (char) => (char === '\n' || char === '\t' ? char : oneLine(char)));
}

const escapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Width of the text in terminal columns. */
export function width(text: string): number {
  return stringWidth(text);
}

export function pad(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, columns - width(text)));
  return align === 'right' ? space + text : text + space;
}

/** Limits the text to a number of columns. Truncated text ends in `…`. */
export function shorten(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let shortened = '';
  let used = 1;
  for (const { segment } of segmenter.segment(text)) {
    used += width(segment);
    if (used > columns) break;
    shortened += segment;
  }
  return `${shortened}…`;
}
