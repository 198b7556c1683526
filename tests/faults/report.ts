import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Finding } from './finding.ts';

/** One line of the table. */
export interface Row {
  /** Of the catalogue. */
  id: string;
  promise: string;
  what: string;
  backend: string;
  finding: Finding;
  seconds: number;
}

const file = fileURLToPath(new URL('../../docs/reliability.md', import.meta.url));
const markers = { begin: '<!-- campaign: begin -->', end: '<!-- campaign: end -->' };
const header = [
  '| run | promise | what was done | queue | lost | requests beyond the first | measured | kept | commit, date, time |',
  '|---|---|---|---|---|---|---|---|---|',
];

/**
 * Writes a row into the table of docs/reliability.md, in place of the one with the same run and queue. The others stay,
 * each with the commit of its measurement.
 */
export function writeRow(row: Row, order: readonly string[], versions: string): void {
  const text = readFileSync(file, 'utf8');
  const [before, rest] = split(text, markers.begin);
  const [block, after] = split(rest, markers.end);
  const rows = new Map(
    block.split('\n').flatMap((line) => (/^\| [RF]\d/.test(line) ? [[keyOf(line), line] as const] : [])),
  );
  const line = format(row);
  rows.set(keyOf(line), line);
  const place = (key: string) => order.indexOf(key.split(' ')[0] ?? '');
  const sorted = [...rows].sort(([a], [b]) => place(a) - place(b) || a.localeCompare(b)).map(([, each]) => each);
  const lines = ['', `Last run with ${versions}.`, '', ...header, ...sorted, ''];
  writeFileSync(file, `${before}${markers.begin}\n${lines.join('\n')}\n${markers.end}${after}`);
}

/** The commit that is being measured, and whether files differ from it. */
function commitName(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: fileURLToPath(new URL('.', import.meta.url)) });
  // The page that is written here does not affect the measurement.
  const isChanged = git('status', '--porcelain', '--', ':/', ':!/docs/reliability.md').toString().trim() !== '';
  return `${git('rev-parse', '--short', 'HEAD').toString().trim()}${isChanged ? ' with changes' : ''}`;
}

function format({ id, promise, what, backend, finding, seconds }: Row): string {
  const figures = Object.entries(finding.figures).map(([name, value]) => `${name}: ${value}`);
  const kept = finding.broken.length === 0 ? 'yes' : `no: ${finding.broken.join('; ')}`;
  const date = new Date().toISOString().slice(0, 10);
  const when = `${commitName()}, ${date}, ${seconds} s`;
  const cells = [id, promise, what, backend, finding.lost, finding.duplicates, figures.join('; '), kept, when];
  return `| ${cells.map((cell) => String(cell).replaceAll('|', '/').replaceAll('\n', ' ')).join(' | ')} |`;
}

function keyOf(line: string): string {
  const cells = line.split('|').map((cell) => cell.trim());
  return `${cells[1]} ${cells[4]}`;
}

function split(text: string, marker: string): [string, string] {
  const at = text.indexOf(marker);
  if (at === -1) throw new Error(`docs/reliability.md has lost its marker ${marker}.`);
  return [text.slice(0, at), text.slice(at + marker.length)];
}
