export interface Column<Row> {
  title: string;
  text: (row: Row) => string;
  /** Right for numbers. */
  align?: 'left' | 'right';
}

/** Rows under a line of titles. Each column is as wide as its widest cell; two spaces separate columns. */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  const cells = [
    columns.map((column) => column.title),
    ...rows.map((row) => columns.map((column) => column.text(row))),
  ];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => line[index]?.length ?? 0)));
  const rendered = cells.map((line) =>
    line
      .map((cell, index) => pad(cell, widths[index] ?? 0, columns[index]?.align ?? 'left'))
      .join('  ')
      .trimEnd(),
  );
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [rendered[0] ?? '', rule, ...rendered.slice(1)];
}

function pad(cell: string, width: number, align: 'left' | 'right'): string {
  return align === 'right' ? cell.padStart(width) : cell.padEnd(width);
}
