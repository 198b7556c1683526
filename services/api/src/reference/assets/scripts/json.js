/** Indents a JSON text without reading its values: long numbers stay as they were written. */
export function indentJson(text) {
  let depth = 0;
  const newLine = () => `\n${'  '.repeat(depth)}`;
  return text.replace(/"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}[\],:]|\s+/g, (token) => {
    if (token === '{' || token === '[') {
      depth++;
      return token + newLine();
    }
    if (token === '}' || token === ']') {
      depth = Math.max(0, depth - 1);
      return newLine() + token;
    }
    if (token === ',') return token + newLine();
    if (token === ':') return ': ';
    return token.trim() === '' ? '' : token.startsWith('"') ? token : token.replace(/\s+/, '');
  });
}
