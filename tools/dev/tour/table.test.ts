import { describe, expect, it } from '@jest/globals';
import { renderTable } from './table.ts';

const columns = [
  { title: 'name', text: (row: { name: string; count: number }) => row.name },
  { title: 'count', text: (row: { name: string; count: number }) => String(row.count), align: 'right' as const },
];

describe('renderTable', () => {
  it('makes each column as wide as its widest cell and aligns numbers to the right', () => {
    const rows = [
      { name: 'a longer name', count: 7 },
      { name: 'b', count: 123_456 },
    ];
    expect(renderTable(columns, rows)).toEqual([
      'name            count',
      '-------------  ------',
      'a longer name       7',
      'b              123456',
    ]);
  });

  it('shows only the titles when there are no rows', () => {
    expect(renderTable(columns, [])).toEqual(['name  count', '----  -----']);
  });
});
