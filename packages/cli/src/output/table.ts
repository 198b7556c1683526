import { oneLine, pad, shorten, width } from './text.ts';

export interface Column<Row> {
  title: string;
  text: (row: Row) => string;
  /** For numbers. */
  align?: 'left' | 'right';
  /** Truncated if the terminal is too narrow. */
  isElastic?: boolean;
  /** Colours a cell that is already padded to its column's width. */
  paint?: (cell: string, row: Row) => string;
}

export interface TableLayout {
  /** The terminal's width. */
  columns: number;
  paintTitle: (title: string) => string;
}

/** Minimum width of an elastic column. */
const narrowest = 8;
const gap = '  ';

/** Formats rows below titles, for people. Truncates wide elastic columns until a row fits the terminal. */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], layout: TableLayout): string[] {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.text(row))));
  const widths = columns.map((column, index) =>
    Math.max(width(column.title), ...cells.map((line) => width(line[index] ?? ''))),
  );
  fit(columns, widths, layout.columns);
  const titles = columns.map((column, index) =>
    layout.paintTitle(pad(shorten(column.title, widths[index] ?? 0), widths[index] ?? 0, column.align)),
  );
  const lines = cells.map((line, row) =>
    columns.map((column, index) => {
      const columnWidth = widths[index] ?? 0;
      const cell = pad(shorten(line[index] ?? '', columnWidth), columnWidth, column.align);
      return column.paint?.(cell, rows[row] as Row) ?? cell;
    }),
  );
  return [titles, ...lines].map((line) => line.join(gap).trimEnd());
}

/** Formats rows for programs: full cells, separated by tabs, without titles. */
export function renderPlain<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  return rows.map((row) => columns.map((column) => oneLine(column.text(row))).join('\t'));
}

/** Narrows the widest elastic column, one character at a time, until a row fits. */
function fit<Row>(columns: readonly Column<Row>[], widths: number[], available: number): void {
  let excess = widths.reduce((sum, each) => sum + each, 0) + gap.length * (columns.length - 1) - available;
  while (excess > 0) {
    const elastic = widths.map((each, index) => (columns[index]?.isElastic ? each : 0));
    const widest = elastic.indexOf(Math.max(...elastic));
    if ((elastic[widest] ?? 0) <= narrowest) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess--;
  }
}
