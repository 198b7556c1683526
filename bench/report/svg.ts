/** The elements of the charts. The colours can be told apart in grey as well. */
const colours = ['#31688e', '#35b779', '#fdb462', '#6a4c93', '#bbbbbb'];

export function svg(width: number, height: number, title: string, parts: readonly string[]): string {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`;
  const style = 'font-family="sans-serif" font-size="13"';
  const ground = rect({ x: 0, y: 0, width, height, fill: '#ffffff' });
  const lines = [ground, text(12, 22, title, { bold: true }), ...parts];
  return `${head} ${style} role="img">\n<title>${escaped(title)}</title>\n${lines.join('\n')}\n</svg>\n`;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  fill: string;
  /** The tooltip. */
  hint?: string;
}

export function rect({ x, y, width, height, fill, hint }: Box): string {
  const box = `<rect x="${fixed(x)}" y="${fixed(y)}" width="${fixed(width)}" height="${fixed(height)}" fill="${fill}"`;
  return hint === undefined ? `${box}/>` : `${box}><title>${escaped(hint)}</title></rect>`;
}

export function text(
  x: number,
  y: number,
  words: string,
  {
    anchor = 'start',
    bold = false,
    light = false,
  }: { anchor?: 'start' | 'middle' | 'end'; bold?: boolean; light?: boolean } = {},
): string {
  const look = `fill="${light ? '#ffffff' : '#222222'}"${bold ? ' font-weight="bold"' : ''}`;
  return `<text x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}" ${look}>${escaped(words)}</text>`;
}

export function polyline(points: readonly (readonly [number, number])[], stroke: string): string {
  const list = points.map(([x, y]) => `${fixed(x)},${fixed(y)}`).join(' ');
  const dots = points.map(([x, y]) => `<circle cx="${fixed(x)}" cy="${fixed(y)}" r="4" fill="${stroke}"/>`);
  return `<polyline points="${list}" fill="none" stroke="${stroke}" stroke-width="2"/>${dots.join('')}`;
}

/** Coloured squares with their names, in a row. */
export function legend(x: number, y: number, names: readonly string[]): string[] {
  return names.flatMap((name, index) => {
    const left = x + index * 110;
    return [rect({ x: left, y: y - 10, width: 12, height: 12, fill: colourOf(index) }), text(left + 18, y, name)];
  });
}

export function colourOf(index: number): string {
  return colours[index % colours.length] as string;
}

function fixed(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
