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

const file = fileURLToPath(new URL('RESULTS.md', import.meta.url));
const markers = { begin: '<!-- campaign: begin -->', end: '<!-- campaign: end -->' };
const header = [
  '| run | promise | what was done | queue | lost | requests beyond the first | measured | kept | commit, date, time |',
  '|---|---|---|---|---|---|---|---|---|',
];

/**
 * Writes a row at the top of the table of RESULTS.md and removes the older one of the same run and queue. Each row names
 * the commit of its measurement.
 */
export function writeRow(row: Row, versions: string): void {
  const text = readFileSync(file, 'utf8');
  const [before, rest] = split(text, markers.begin);
  const [block, after] = split(rest, markers.end);
  const line = format(row);
  const others = block.split('\n').filter((each) => /^\| [RF]\d/.test(each) && keyOf(each) !== keyOf(line));
  const lines = ['', `Last run with ${versions}.`, '', ...header, line, ...others, ''];
  writeFileSync(file, `${before}${markers.begin}\n${lines.join('\n')}\n${markers.end}${after}`);
}

/** The commit that is being measured, and whether files differ from it. */
function commitName(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: fileURLToPath(new URL('.', import.meta.url)) });
  // This file's own output does not affect the measurement.
  const isChanged = git('status', '--porcelain', '--', ':/', ':!/tests/faults/RESULTS.md').toString().trim() !== '';
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
  if (at === -1) throw new Error(`RESULTS.md has lost its marker ${marker}.`);
  return [text.slice(0, at), text.slice(at + marker.length)];
}
