import { readFile } from 'node:fs/promises';
import { openTestDatabase } from '@enterprise-api/testkit';
import { expect, it } from '@jest/globals';

it('the schema names every column of the ledger, and says of the same ones that they may be null', async () => {
  const { db, close } = await openTestDatabase();
  const tables = await db.introspection.getTables();
  await close();
  const isPartition = (name: string) => /_(\d{4}_\d{2}(_\d{2})?|default)$/.test(name);
  const inDatabase = tables
    .filter((table) => table.schema === 'public' && !isPartition(table.name) && !table.isView)
    .flatMap((table) =>
      table.columns.map((column) => `${table.name}.${column.name}${column.isNullable ? ' null' : ''}`),
    );
  expect(inDatabase.toSorted()).toEqual((await columnsInSource()).toSorted());
});

it('the view of all attempts has the columns of the table', async () => {
  const { db, close } = await openTestDatabase();
  const tables = await db.introspection.getTables();
  await close();
  const columnsOf = (name: string) =>
    tables
      .find((table) => table.name === name)
      ?.columns.map((column) => `${column.name} ${column.dataType}`)
      .toSorted();
  expect(columnsOf('all_attempts')).toEqual(columnsOf('attempts'));
});

async function columnsInSource(): Promise<string[]> {
  const files = ['./schema.ts', './statistics-tables.ts', './usage-tables.ts'].map((file) =>
    readFile(new URL(file, import.meta.url), 'utf8'),
  );
  const source = (await Promise.all(files)).join('\n');
  const interfaces = new Map(
    [...source.matchAll(/interface (\w+) \{\n(.*?)\n\}/gs)].map(([, name = '', body = '']) => [name, body] as const),
  );
  const views = new Set(['all_attempts']);
  const all = [...(interfaces.get('Schema') ?? '').matchAll(/(\w+): (\w+);/g)];
  const tables = all.filter(([, name = '']) => !views.has(name));
  return tables.flatMap(([, table, type = '']) =>
    [...(interfaces.get(type) ?? '').matchAll(/^ {2}(\w+): (.*);$/gm)].map(
      ([, column, columnType = '']) => `${table}.${column}${columnType.includes('| null') ? ' null' : ''}`,
    ),
  );
}
