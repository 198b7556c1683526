import { describe, expect, it } from '@jest/globals';
import { type Column, renderPlain, renderTable } from './table.ts';
import { width } from './text.ts';

interface Row {
  id: string;
  url: string;
  count: number;
}

const columns: Column<Row>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'URL', text: ({ url }) => url, isElastic: true },
  { title: 'COUNT', text: ({ count }) => String(count), align: 'right' },
];
const rows: Row[] = [
  { id: 'a', url: 'https://example.com/a/rather/long/path', count: 1 },
  { id: 'bcd', url: 'https://example.com', count: 1_000 },
];
const plain = (title: string) => title;

describe('a table', () => {
  it('has a line of titles, and columns as wide as their widest cell', () => {
    expect(renderTable(columns, rows, { columns: 200, paintTitle: plain })).toEqual([
      'ID   URL                                     COUNT',
      'a    https://example.com/a/rather/long/path      1',
      'bcd  https://example.com                      1000',
    ]);
  });

  it('cuts elastic columns so that each row fits the terminal', () => {
    const lines = renderTable(columns, rows, { columns: 30, paintTitle: plain });
    for (const line of lines) expect(width(line)).toBeLessThanOrEqual(30);
    expect(lines[1]).toBe('a    https://example.c…      1');
  });

  it('keeps a rest of every column on a terminal that is too narrow for all', () => {
    expect(renderTable(columns, rows, { columns: 5, paintTitle: plain })[2]).toBe('bcd  https:/…   1000');
  });

  it('paints cells without a change of their width', () => {
    const painted = columns.map((column) => ({ ...column, paint: (cell: string) => `<${cell}>` }));
    expect(renderTable(painted, rows.slice(1), { columns: 80, paintTitle: plain })[1]).toBe(
      '<bcd>  <https://example.com>  < 1000>',
    );
  });

  it('is tab-separated lines with whole cells and without titles where there is no terminal', () => {
    expect(renderPlain(columns, [{ id: 'a\tb', url: 'x\ny', count: 2 }])).toEqual(['a\\tb\tx\\ny\t2']);
  });
});
