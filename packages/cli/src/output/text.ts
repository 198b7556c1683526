import stringWidth from 'string-width';

const segmenter = new Intl.Segmenter();
// Control characters, and the marks that reorder text: a description or an answer of a receiver must not move the
// cursor, clear the screen or disguise what stands beside it.
const unsafe = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069\uFEFF]/gu;

/** One line of text that a terminal shows as it is: what could steer a terminal becomes visible escapes. */
export function oneLine(text: string): string {
  return text.replace(unsafe, (char) => escapes[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Like {@link oneLine} for text of several lines: line breaks and tabs stay. */
export function manyLines(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(unsafe, (char) => (char === '\n' || char === '\t' ? char : oneLine(char)));
}

const escapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Columns of a terminal that the text takes. */
export function width(text: string): number {
  return stringWidth(text);
}

export function pad(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, columns - width(text)));
  return align === 'right' ? space + text : text + space;
}

/** The text in at most so many columns; where something is missing, it ends in `…`. */
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
