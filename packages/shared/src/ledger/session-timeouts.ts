import { sql } from 'kysely';
import type { Database } from './database.ts';

/** A statement must fail rather than hang. Keys are PostgreSQL's names; values are milliseconds. */
export const sessionTimeoutsMs = {
  idle_in_transaction_session_timeout: 10_000,
  lock_timeout: 5_000,
  statement_timeout: 30_000,
} as const;

/**
 * Sets the timeouts for all later sessions of the connected role in this database. Sessions of a pooler need the
 * timeouts from the role, because a pooler's clients can set nothing beyond a transaction.
 *
 * Concurrent migrations wait for a lock. If several changed a role's settings at once, PostgreSQL would fail all except
 * one.
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
 * Throws if a session has no limit for a statement, a lock or an idle transaction. The error names the remedy. Without
 * limits, a single statement that hangs would block its pooler session forever.
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
