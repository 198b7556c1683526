import { rounded, summarize } from '../measure/figures.ts';
import type { View } from './view.ts';

const shown = ['W1', 'W3', 'W2', 'W1 postgres', 'W2 postgres', 'B2', 'B3', 'B1'];
/** The processes that use CPU time, with the names of their figures and a colour that differs in grey as well. */
const users = [
  { name: 'API, producer', figures: ['api_us', 'producer_us'], colour: '#31688e' },
  { name: 'worker', figures: ['worker_us', 'sender_us'], colour: '#35b779' },
  { name: 'Redis', figures: ['redis_us'], colour: '#fdb462' },
  { name: 'PostgreSQL', figures: ['postgres_us'], colour: '#6a4c93' },
];
const [width, left, top, row] = [760, 110, 70, 30];

/** An SVG of what a delivery costs in each series, by process; undefined while none was measured. */
export function costPicture(view: View, note: string): string | undefined {
  const median = (series: string, figure: string) => summarize(view.values(series, figure))?.median ?? 0;
  const rows = shown.map((series) => ({ series, total: median(series, 'cpu_us') })).filter(({ total }) => total > 0);
  if (rows.length === 0) return undefined;
  const scale = (width - 2 * left) / Math.max(...rows.map(({ total }) => total));
  const legend = users.map(
    ({ name, colour }, place) => box(left + place * 130, 40, 12, colour) + text(left + place * 130 + 18, 51, name),
  );
  const bars = rows.flatMap(({ series, total }, index) => {
    const y = top + index * row;
    let x = left;
    const parts = users.map(({ figures, colour }) => {
      const wide = figures.reduce((sum, figure) => sum + median(series, figure), 0) * scale;
      x += wide;
      return box(x - wide, y, wide, colour);
    });
    return [text(10, y + 13, series), ...parts, text(x + 6, y + 13, `${rounded(total)} µs`)];
  });
  const height = top + 20 + rows.length * row;
  const title = `CPU time per delivery confirmed, median${note}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13" role="img">`,
    `<title>${title}</title><rect width="100%" height="100%" fill="white"/>${text(10, 22, title)}`,
    ...legend,
    ...bars,
    '</svg>\n',
  ].join('\n');
}

function box(x: number, y: number, wide: number, colour: string): string {
  return `<rect x="${x.toFixed(1)}" y="${y}" width="${wide.toFixed(1)}" height="16" fill="${colour}"/>`;
}

function text(x: number, y: number, words: string): string {
  return `<text x="${x.toFixed(1)}" y="${y}">${words}</text>`;
}
