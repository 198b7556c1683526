import type { ComponentChildren } from 'preact';
import { m } from '../messages.ts';

export interface Column<Row> {
  name: string;
  cell: (row: Row) => ComponentChildren;
  /** Aligns numbers on the right. */
  number?: boolean;
}

interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  empty: ComponentChildren;
}

/** A table. On a narrow screen each row becomes a block, whose cells say the name of their column. */
export function Table<Row>({ label, columns, rows, keyOf, empty }: TableProps<Row>) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    // The roles keep the table a table where its style makes blocks of it.
    // biome-ignore-start lint/a11y/noRedundantRoles: see above
    <table role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ name, number }) => (
            <th key={name} role="columnheader" scope="col" class={number ? 'number' : ''}>
              {name || <span class="unseen">{m.actions.title}</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map(({ name, cell, number }) => (
              <td key={name} role="cell" data-label={name} class={number ? 'number' : ''}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
    // biome-ignore-end lint/a11y/noRedundantRoles: see above
  );
}

/** Names with their values. */
export function Facts({ rows }: { rows: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
