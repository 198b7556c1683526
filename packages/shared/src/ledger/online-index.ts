import { setTimeout as pause } from 'node:timers/promises';
import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { sqlStateOf } from './sql-state.ts';

/** An index of a table that is in use while it is built. */
export interface OnlineIndex {
  readonly table: string;
  /** Begins with the table's name. At most 55 characters where the table is partitioned: the month comes into it. */
  readonly name: string;
  /** What follows `create index … on table`: columns, and what else an index has (`where`, `with`). */
  readonly definition: string;
  readonly unique?: boolean;
}

/** A migration that builds indexes and does nothing else. It runs outside of a transaction, and goes on where it was killed. */
export interface OnlineMigration extends Migration {
  readonly indexes: readonly OnlineIndex[];
}

/** What a migration's file exports, as `indexes` and `up`, so that its indexes are built while the ledger is in use. */
export function onlineIndexes(indexes: readonly OnlineIndex[]): OnlineMigration {
  return {
    indexes,
    // The migration is recorded when this has passed; the indexes have been built before it.
    up: async (db) => {
      for (const { name } of indexes) {
        if ((await stateOf(db, name)) !== 'valid') throw new Error(`The index ${name} is not built.`);
      }
    },
  };
}

export function isOnline(migration: Migration | undefined): migration is OnlineMigration {
  return migration !== undefined && 'indexes' in migration;
}

/**
 * Builds an index without locking out anybody. What an earlier build that was killed has completed stays, what it left
 * incomplete is dropped and built again. Of a partitioned table each partition's index is built by itself, and attached.
 *
 * @param session one connection, not in a transaction
 */
export async function buildOnline(session: QueryExecutorProvider, index: OnlineIndex): Promise<void> {
  if (!(await isPartitioned(session, index.table))) return await build(session, index);
  const { table, name, definition, unique } = index;
  const create = sql`create ${kind(unique)} if not exists ${sql.ref(name)} on only ${sql.table(table)} ${sql.raw(definition)}`;
  await whenFree(session, create);
  // Partitions that are created from here on have the index from the start.
  for (const partition of await partitionsWithout(session, index)) {
    const part = { ...index, table: partition, name: `${partition}${name.slice(table.length)}` };
    await build(session, part);
    await whenFree(session, sql`alter index ${sql.ref(name)} attach partition ${sql.ref(part.name)}`);
  }
}

/** A build waits for every transaction that is older than it, without holding up anybody. */
const olderTransactionsWithin = '10min';

async function build(session: QueryExecutorProvider, { table, name, definition, unique }: OnlineIndex): Promise<void> {
  const state = await stateOf(session, name);
  if (state === 'valid') return;
  await sql`select set_config('lock_timeout', ${olderTransactionsWithin}, false)`.execute(session);
  try {
    if (state === 'invalid') await sql`drop index concurrently ${sql.ref(name)}`.execute(session);
    await sql`create ${kind(unique)} concurrently ${sql.ref(name)} on ${sql.table(table)} ${sql.raw(definition)}`.execute(
      session,
    );
  } catch (error) {
    if (sqlStateOf(error) !== lockNotAvailable) throw error;
    const advice = 'End the transactions that are older (pg_stat_activity.xact_start), and run this again.';
    throw new Error(`The index ${name} could not be built within ${olderTransactionsWithin}. ${advice}`);
  } finally {
    await sql`reset lock_timeout`.execute(session);
  }
}

const lockNotAvailable = '55P03';
/** While a lock is waited for, every later statement on the table waits behind it. */
const lockWithinMs = '200';
const betweenTriesMs = 1_000;
const triesAtMost = 300;

/** Runs a statement that takes milliseconds and needs a lock which keeps writers out: asked for briefly, again and again. */
async function whenFree(session: QueryExecutorProvider, statement: RawBuilder<unknown>): Promise<void> {
  await sql`select set_config('lock_timeout', ${lockWithinMs}, false)`.execute(session);
  try {
    for (let tries = 1; ; tries++) {
      try {
        return void (await statement.execute(session));
      } catch (error) {
        if (sqlStateOf(error) !== lockNotAvailable || tries === triesAtMost) throw error;
        await pause(betweenTriesMs);
      }
    }
  } finally {
    await sql`reset lock_timeout`.execute(session);
  }
}

function kind(unique: boolean | undefined): RawBuilder<unknown> {
  return sql.raw(unique ? 'unique index' : 'index');
}

async function isPartitioned(session: QueryExecutorProvider, table: string): Promise<boolean> {
  const { rows } = await sql`select from pg_class where oid = ${table}::regclass and relkind = 'p'`.execute(session);
  return rows.length > 0;
}

async function stateOf(db: QueryExecutorProvider, name: string): Promise<'absent' | 'invalid' | 'valid'> {
  const { rows } = await sql<{ valid: boolean }>`
    select x.indisvalid as valid from pg_index x join pg_class c on c.oid = x.indexrelid
    where c.relname = ${name} and c.relnamespace = current_schema()::regnamespace`.execute(db);
  if (rows[0] === undefined) return 'absent';
  return rows[0].valid ? 'valid' : 'invalid';
}

/** The partitions that have no part of the index yet. */
async function partitionsWithout(session: QueryExecutorProvider, { table, name }: OnlineIndex): Promise<string[]> {
  const { rows } = await sql<{ partition: string }>`
    select p.relname as partition from pg_inherits h join pg_class p on p.oid = h.inhrelid
    where h.inhparent = ${table}::regclass and not h.inhdetachpending and not exists (
      select from pg_index x join pg_inherits i on i.inhrelid = x.indexrelid
      where x.indrelid = p.oid and i.inhparent = ${name}::regclass)
    order by p.relname`.execute(session);
  return rows.map(({ partition }) => partition);
}
