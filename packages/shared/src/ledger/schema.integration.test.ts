import { readFile } from 'node:fs/promises';
import { openTestDatabase } from '@enterprise-api/testkit';
import { expect, it } from '@jest/globals';
import { sql } from 'kysely';

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

it('has planner statistics of no text but codes, names, public ids and hashes', async () => {
  const { db, close } = await openTestDatabase();
  const { rows } = await sql<{ columns: string }>`
    select c.relname || ': ' || string_agg(a.attname, ' ' order by a.attname) as columns
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where a.attnum > 0 and not a.attisdropped and a.attstattarget is distinct from 0
      and a.atttypid::regtype::text similar to '(text|character varying|jsonb?)%' and not c.relispartition
      and c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and c.relname not like 'kysely%'
    group by c.relname order by 1`.execute(db);
  await close();
  expect(rows.map(({ columns }) => columns)).toEqual(keptStatistics);
});

/** Columns without text of customers or receivers. A new column with such text keeps none: keepNoStatistics. */
const keptStatistics = [
  'api_keys: ip_allowlist_mode public_id scopes',
  'attempts: error',
  'audit_log: action actor changed_fields object_type',
  'console_sessions: scopes',
  'deliveries: canceled_reason event_type last_error status',
  'erasures: counts place selection_kind selection_sha256',
  'event_keys: event_type key',
  'events: traceparent type',
  'organizations: plan state',
  'parked_events: reason',
  'pending_deliveries: event_type',
  'replays: state',
  'uncounted_attempts: errors event_types',
  'usage_requests: area',
  'webhook_counts: error event_type level',
  'webhook_versions: event_patterns state',
  'webhooks: disabled_reason event_patterns state',
  'worker_policies: policy',
];

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
