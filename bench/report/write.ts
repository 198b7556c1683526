import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Form } from '../forms.ts';
import { openResults, type RunRecord, resultsFolder } from './results.ts';
import { costTable, figureTable, goalTable, machines, remarks } from './tables.ts';

const summaryFile = new URL('../../docs/performance.md', import.meta.url);
const markers = { begin: '<!-- bench: begin -->', end: '<!-- bench: end -->' };

/**
 * Writes the tables of a form beside its results. The goals in docs/performance.md come from the full form, or from the
 * short form while there is none.
 */
export function writeReport(form: Form): void {
  const { runs } = openResults(form);
  if (runs.length === 0) return;
  writeFileSync(new URL(`${form}.md`, resultsFolder), wholeReport(form, runs));
  if (form !== 'full' && openResults('full').runs.length > 0) return;
  writeGoals(form, runs);
}

function wholeReport(form: Form, runs: readonly RunRecord[]): string {
  const notes = remarks(runs);
  const sections = [
    ['# Results', `The ${form} form of the benchmark, written by \`make bench\`. bench/NOTES.md explains the series.`],
    machines(runs),
    goalTable(runs),
    ['## Series'],
    costTable(runs),
    ['## All figures'],
    figureTable(runs),
    ...(notes.length > 0 ? [['## Remarks'], notes] : []),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function writeGoals(form: Form, runs: readonly RunRecord[]): void {
  const text = existsSync(summaryFile) ? readFileSync(summaryFile, 'utf8') : '';
  const [begin, end] = [text.indexOf(markers.begin), text.indexOf(markers.end)];
  if (begin === -1 || end === -1) throw new Error('docs/performance.md has lost its markers.');
  const warning = form === 'full' ? [] : [['From the short form, which costs up to twice as much as the full form.']];
  const block = [...warning, machines(runs), goalTable(runs)].map((lines) => lines.join('\n')).join('\n\n');
  const before = text.slice(0, begin + markers.begin.length);
  writeFileSync(summaryFile, `${before}\n\n${block}\n\n${text.slice(end)}`);
}
