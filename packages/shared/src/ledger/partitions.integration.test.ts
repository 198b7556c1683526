import { openTestDatabase } from '@enterprise-api/testkit';
import { expect, it } from '@jest/globals';
import { type Kysely, sql } from 'kysely';
import { ensurePartitions } from './partitions.ts';
import { bodiesTable, partitionedTables, storageParameters } from './storage.ts';

const inHalfAYear = new Date(Date.now() + 182 * 24 * 3_600_000);

it('partitions are created while long queries run, and block no other statement', async () => {
  const { db, close } = await openTestDatabase();
  await db.transaction().execute(async (reader) => {
    await sql`select count(*) from deliveries`.execute(reader);
    await expect(ensurePartitions(db, inHalfAYear)).resolves.toBeUndefined();
  });
  await close();
});

it('partitions created by several at once are there once, with every index and check of the table', async () => {
  const { db, close } = await openTestDatabase();
  await Promise.all([1, 2, 3].map(() => ensurePartitions(db, inHalfAYear)));
  for (const table of [...partitionedTables, bodiesTable]) {
    const shapes = await shapesOfPartitions(db, table);
    expect(shapes.length).toBeGreaterThanOrEqual(7);
    expect(new Set(shapes).size).toBe(1);
  }
  await close();
});

it('every partition is stored and vacuumed as its table says, those of the first months and those made later', async () => {
  const { db, close } = await openTestDatabase();
  await ensurePartitions(db, inHalfAYear);
  for (const table of [...partitionedTables, bodiesTable]) {
    const wanted = (storageParameters[table] ?? '').replaceAll(' ', '').split(',').sort();
    expect(wanted.length).toBeGreaterThan(3);
    const { rows } = await sql<{ name: string; options: string[] | null }>`
      select c.relname as name, c.reloptions as options from pg_inherits p join pg_class c on c.oid = p.inhrelid
      where p.inhparent = ${table}::regclass`.execute(db);
    expect(rows.length).toBeGreaterThanOrEqual(7);
    for (const { name, options } of rows) expect({ name, options: options?.sort() }).toEqual({ name, options: wanted });
  }
  await close();
});

/** What each partition has: its indexes that belong to one of the table's, and its checks. */
async function shapesOfPartitions<DB>(db: Kysely<DB>, table: string): Promise<string[]> {
  const { rows } = await sql<{ shape: string }>`
    select concat_ws('; ',
      (select string_agg(parent.inhparent::regclass::text, ',' order by parent.inhparent) from pg_index i
        left join pg_inherits parent on parent.inhrelid = i.indexrelid where i.indrelid = p.inhrelid),
      (select count(*) from pg_index i where i.indrelid = p.inhrelid),
      (select string_agg(pg_get_constraintdef(c.oid), ',' order by c.conname) from pg_constraint c
        where c.conrelid = p.inhrelid and c.contype = 'c')) as shape
    from pg_inherits p where p.inhparent = ${table}::regclass`.execute(db);
  return rows.map((row) => row.shape);
}
