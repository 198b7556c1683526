/**
 * Matches quoted names, which the result keeps. Also matches dollar-quoted text, `E'…'`, `'…'`, comments, and numbers
 * that are not part of a name.
 */
const parts =
  /"(?:[^"]|"")*"|\$([A-Za-z_]\w*)?\$[\s\S]*?(?:\$\1\$|$)|[eE]'(?:[^'\\]|''|\\[\s\S])*(?:'|$)|'(?:[^']|'')*(?:'|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|(?<![\w$.])\d[\w.]*/g;

const maxLength = 500;

/**
 * Returns a statement on one line, with `?` for each literal, because literals may be customers' data. The server may
 * have cut the statement within a literal.
 */
export function withoutLiterals(statement: string): string {
  const masked = statement.replace(parts, (part) =>
    part.startsWith('"') ? part : /^(--|\/\*)/.test(part) ? ' ' : '?',
  );
  const line = masked.replace(/\s+/g, ' ').trim();
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}
