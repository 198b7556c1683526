import { sql } from 'kysely';
import type { Database } from './database.ts';

/** Statements that hang are worse than statements that fail. By the names of PostgreSQL's settings, in milliseconds. */
export const sessionTimeoutsMs = {
  idle_in_transaction_session_timeout: 10_000,
  lock_timeout: 5_000,
  statement_timeout: 30_000,
} as const;

/**
 * Gives the timeouts to all later sessions of the connected role in this database. Sessions of a pooler have them from
 * their role: its clients cannot set anything that lasts longer than a transaction.
 *
 * Several migrations may run at the same time: PostgreSQL fails all but one that change a role's settings at once, so they
 * take turns.
 */
export async function setRoleTimeouts(db: Database): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext('role timeouts'))`.execute(trx);
    for (const [name, ms] of Object.entries(sessionTimeoutsMs)) {
      await sql`do ${sql.lit(`begin execute format(
        'alter role %I in database %I set ${name} = ${ms}', current_user, current_database()); end`)}`.execute(trx);
    }
  });
}

/**
 * @throws when a session has no limit for a statement, a lock or an idle transaction, with what to do about it. A single
 *   statement that hangs would keep its session of the pooler for ever
 */
export async function requireRoleTimeouts(db: Database): Promise<void> {
  const names = Object.keys(sessionTimeoutsMs);
  const { rows } = await sql<{ name: string; role: string; database: string }>`
    select name, current_user as role, current_database() as database from pg_settings
    where name = any(${names}) and setting = '0' order by name`.execute(db);
  const [first] = rows;
  if (first === undefined) return;
  throw new Error(
    `Behind a pooler the timeouts are settings of the role, and ${rows.map(({ name }) => name).join(', ')} of role ` +
      `${first.role} in database ${first.database} is unlimited. Run make migrate, which sets them for the role of ` +
      'DATABASE_DIRECT_URL, then have the pooler open new sessions (PgBouncer: RECONNECT).',
  );
}
