import { type QueryExecutorProvider, sql } from 'kysely';

/**
 * The planner's statistics keep values of a column after their rows are gone, so the planner keeps no statistics of
 * these columns. To remove existing statistics, the statement sets each column's type to its present type. A second
 * call changes nothing.
 */
export async function keepNoStatistics(
  db: QueryExecutorProvider,
  columnsOfTables: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  for (const [table, columns] of Object.entries(columnsOfTables)) {
    const { rows } = await sql<{ name: string; type: string }>`
      select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = ${table}::regclass and attname = any(${columns}) and attstattarget is distinct from 0`.execute(
      db,
    );
    if (rows.length === 0) continue;
    const changes = rows.map(
      ({ name, type }) =>
        sql`alter column ${sql.ref(name)} set statistics 0, alter column ${sql.ref(name)} type ${sql.raw(type)}`,
    );
    await sql`alter table ${sql.table(table)} ${sql.join(changes)}`.execute(db);
  }
}
