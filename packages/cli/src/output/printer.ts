import type { Environment, Io, Output } from '../io.ts';
import { type Colour, isInteractive, type Paint, paintFor } from './paint.ts';
import { type Progress, startProgress } from './progress.ts';
import { type Column, renderPlain, renderTable } from './table.ts';
import { manyLines, oneLine, pad, width } from './text.ts';

/** A field's name and value for people. Undefined omits the field. */
export type Field = readonly [name: string, value: string | undefined];

/** Writes results to standard output, as text or JSON, and everything else to standard error. */
export interface Printer {
  /** True if results are JSON. */
  readonly isJson: boolean;
  /** True if standard output is a terminal. Tables then have titles and fit its width. */
  readonly isTerminal: boolean;
  readonly paint: Paint;
  /** Prints one object: its fields for people, or the object as JSON. */
  object(value: object, fields: readonly Field[]): void;
  /** Prints several objects: a table on a terminal, tab-separated lines in a pipe, or a JSON array. */
  list<Row>(rows: readonly Row[], columns: readonly Column<Row>[], whenEmpty: string): void;
  /** Prints one object of a tail on a line. `line` formats it for people. */
  record(value: object, line: () => string): void;
  /** Prints lines for people, unchanged; with --json prints nothing. Callers escape untrusted data with `oneLine`. */
  text(...lines: string[]): void;
  /** Prints text unchanged, with or without --json. */
  raw(text: string | Uint8Array): void;
  /** Prints a part of a report: its name, and a table with titles in a pipe too, because a container has no terminal. */
  section<Row>(title: string, rows: readonly Row[], columns: readonly Column<Row>[]): void;
  /** Prints a remark to standard error, with or without --json. */
  note(text: string, colour?: Colour): void;
  progress(title: string): Progress;
}

export function createPrinter({ stdout, stderr, env }: Io, isJson: boolean): Printer {
  const paint = paintFor(stdout, env);
  const paintNote = paintFor(stderr, env);
  const isTerminal = isInteractive(stdout, env);
  const line = (text = '') => void stdout.write(`${text}\n`);
  const table = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]) => tableLines(columns, rows, stdout, env);
  return {
    isJson,
    isTerminal,
    paint,
    object: (value, fields) => {
      if (isJson) return line(JSON.stringify(value, null, 2));
      for (const each of fieldLines(fields, paint)) line(each);
    },
    list: (rows, columns, whenEmpty) => {
      if (isJson) return line(JSON.stringify(rows, null, 2));
      if (rows.length === 0 && isTerminal) return line(whenEmpty);
      for (const each of table(columns, rows)) line(each);
    },
    record: (value, text) => line(isJson ? JSON.stringify(value) : text()),
    text: (...lines) => {
      if (!isJson) for (const each of lines) line(each);
    },
    raw: (text) => void stdout.write(text),
    section: (title, rows, columns) => {
      if (isJson) return;
      line(`\n${paint('bold', title)}`);
      if (rows.length === 0) return line('none');
      for (const each of tableWithTitles(columns, rows, isTerminal ? stdout.columns || 80 : Infinity, paint))
        line(each);
    },
    note: (text, colour = 'yellow') => void stderr.write(`${paintNote(colour, manyLines(text))}\n`),
    progress: (title) => startProgress(title, stderr, env),
  };
}

function tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  output: Output,
  env: Environment,
): string[] {
  if (!isInteractive(output, env)) return renderPlain(columns, rows);
  return tableWithTitles(columns, rows, output.columns || 80, paintFor(output, env));
}

const tableWithTitles = <Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  terminalWidth: number,
  paint: Paint,
) => renderTable(columns, rows, { columns: terminalWidth, paintTitle: (title) => paint('bold', title) });

/** Formats `name   value` lines with aligned values. */
function fieldLines(fields: readonly Field[], paint: Paint): string[] {
  const present = fields.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  const nameWidth = Math.max(0, ...present.map(({ name }) => width(name)));
  return present.map(({ name, value }) => `${paint('dim', pad(name, nameWidth))}  ${oneLine(value)}`);
}
