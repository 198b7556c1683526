import { type Kysely, type QueryExecutorProvider, sql } from 'kysely';

/** Columns with text of customers, callers or receivers. */
const columns = [
  ['organizations', 'name'],
  ['organizations', 'external_id'],
  ['api_keys', 'name'],
  ['api_keys', 'ip_allowlist'],
  ['api_keys', 'last_used_address'],
  ['api_keys', 'last_used_user_agent'],
  ['api_keys', 'outside_addresses'],
  ['webhooks', 'url'],
  ['webhooks', 'description'],
  ['webhook_urls', 'url'],
  ['events', 'request_id'],
  ['event_bodies', 'body'],
  ['deliveries', 'excerpt'],
  ['attempts', 'excerpt'],
  ['attempts', 'error_message'],
  ['audit_log', 'on_behalf_of'],
  ['audit_log', 'changes'],
];

const newColumns = [
  ['event_subjects', 'subject'],
  ['erasures', 'reason'],
] as const;

export async function forgetStatistics(db: Kysely<unknown>): Promise<void> {
  const view = await sql<{ text: string }>`select pg_get_viewdef('all_attempts'::regclass) as text`.execute(db);
  await sql`drop view all_attempts`.execute(db);
  await keepNoStatistics(db, columns);
  // New tables have no statistics. Setting the type would also set the default collation.
  for (const [table, column] of newColumns) {
    await sql`alter table ${sql.table(table)} alter column ${sql.ref(column)} set statistics 0`.execute(db);
  }
  await sql`create view all_attempts as ${sql.raw(view.rows[0]?.text ?? '')}`.execute(db);
}

/**
 * The planner's statistics keep values of a column after their rows are gone, so it keeps none of these columns.
 * Setting the type that a column has removes the statistics that exist. A second call changes nothing.
 */
export async function keepNoStatistics(db: QueryExecutorProvider, columnsOfTables: readonly string[][]): Promise<void> {
  for (const [table = '', column = ''] of columnsOfTables) {
    const { rows } = await sql<{ type: string }>`
      select format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = ${table}::regclass and attname = ${column} and attstattarget is distinct from 0`.execute(db);
    if (rows[0] === undefined) continue;
    const [name, type] = [sql.ref(column), sql.raw(rows[0].type)];
    await sql`alter table ${sql.table(table)} alter column ${name} set statistics 0, alter column ${name} type ${type}`.execute(
      db,
    );
  }
}
