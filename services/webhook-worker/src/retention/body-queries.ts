import { type Database, type DatabaseTransaction, storageParameters, uuidAtTime } from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import { type RawBuilder, sql } from 'kysely';
import type { Partition } from './months.ts';
import { pendingEvents, valuesOf } from './partition-queries.ts';

type EventMonth = Pick<Partition, 'name' | 'from' | 'until'>;

/** The table that a month's events are copied to. */
const copyName = ({ name }: EventMonth) => `${name}_without_bodies`;
const copyOf = (month: EventMonth) => sql.table(copyName(month));

/** The name under which a month's old events lie until they are dropped. */
export const replacedName = ({ name }: EventMonth) => `${name}_replaced`;

/**
 * Makes the table that a month's events are copied to, unless an interrupted run has left it with the columns that events
 * have now. Its check lets it be attached without being scanned; the index finds the few bodies that stay.
 */
export async function createCopy(db: Database, month: EventMonth): Promise<void> {
  const { from, until } = month;
  await db.transaction().execute(async (trx) => {
    if (await hasColumnsOfEvents(trx, month)) return;
    await sql`drop table if exists ${copyOf(month)}`.execute(trx);
    await sql`create table ${copyOf(month)} (like events including all) with (${sql.raw(storageParameters.events ?? '')})`.execute(
      trx,
    );
    await sql`alter table ${copyOf(month)} add constraint ids_of_month
      check (id >= ${sql.lit(uuidAtTime(from))}::uuid and id < ${sql.lit(uuidAtTime(until))}::uuid)`.execute(trx);
    await sql`create index on ${copyOf(month)} (id) where body is not null`.execute(trx);
  });
}

async function hasColumnsOfEvents(trx: DatabaseTransaction, month: EventMonth): Promise<boolean> {
  const { rows } = await sql<{ same: boolean | null }>`
    select (select array_agg(attname order by attname) from pg_attribute
        where attrelid = to_regclass(${copyName(month)}) and attnum > 0 and not attisdropped)
      = (select array_agg(attname order by attname) from pg_attribute
        where attrelid = 'events'::regclass and attnum > 0 and not attisdropped) as same`.execute(trx);
  return rows[0]?.same === true;
}

/**
 * Copies the next events of a month, those without a body whose deliveries are all done. It goes on behind the last one that
 * was copied: rows are copied in the order of their ids.
 *
 * @returns how many events were copied; fewer than `limit` means that none is left
 */
export async function copyEvents(db: Database, month: EventMonth, limit: number): Promise<number> {
  const columns = await otherColumns(db);
  const { rows } = await sql<{ copied: number }>`
    with last as materialized (select id from ${copyOf(month)} order by id desc limit 1),
    batch as materialized (
      select * from ${sql.table(month.name)}
      where id > coalesce((select id from last), ${nilUuid}::uuid) order by id limit ${limit}
    ), kept as materialized (${pendingEvents(month)}),
    written as (
      insert into ${copyOf(month)} (${columns}, body)
      select ${columns}, case when id in (select event_id from kept) then body end from batch
    )
    select count(*) as copied from batch`.execute(db);
  return rows[0]?.copied ?? 0;
}

/** Every column of events but the body, whatever later migrations have added. */
async function otherColumns(db: Database): Promise<RawBuilder<unknown>> {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute
    where attrelid = 'events'::regclass and attnum > 0 and not attisdropped and attname <> 'body' order by attnum`.execute(
    db,
  );
  return sql.join(rows.map(({ name }) => sql.ref(name)));
}

/** Whether every event of a month has been copied. Plans depend on what a table holds: the copy is analyzed as well. */
export async function isCopied(db: Database, month: EventMonth): Promise<boolean> {
  await sql`analyze ${copyOf(month)}`.execute(db);
  const { rows } = await sql<{ same: boolean }>`
    select (select count(*) from ${copyOf(month)}) = (select count(*) from ${sql.table(month.name)}) as same`.execute(
    db,
  );
  return rows[0]?.same === true;
}

export async function dropCopy(db: Database, month: EventMonth): Promise<void> {
  await sql`drop table if exists ${copyOf(month)}`.execute(db);
}

/** Whether a transaction older than a second uses the events: who asked for their lock now would make all others wait. */
export async function isInLongUse(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks l join pg_stat_activity a using (pid)
    where l.relation = 'events'::regclass and l.granted and pid <> pg_backend_pid()
      and l.database = (select oid from pg_database where datname = current_database())
      and a.xact_start < clock_timestamp() - interval '1 second' limit 1`.execute(db);
  return rows.length > 0;
}

/**
 * Puts the copy in the place of a month's events, in one transaction: nobody sees the month without events. The lock on the
 * table is held for milliseconds, and waited for at most `lockWithinMs`: for so long writers of events may wait behind it.
 *
 * A delivery may have become pending after its event was copied. Whoever made it so has read the event, and so has ended
 * before the lock is given: its body is copied now. Whoever comes later finds no body, and is refused.
 *
 * @throws SQLSTATE 55P03 when the lock was not to be had
 */
export async function replaceByCopy(db: Database, month: EventMonth, lockWithinMs: number): Promise<void> {
  const old = sql.table(month.name);
  await db.transaction().execute(async (trx) => {
    await sql`set local lock_timeout = ${sql.lit(lockWithinMs)}`.execute(trx);
    await sql`lock table only events, only ${old} in access exclusive mode`.execute(trx);
    await sql`update ${copyOf(month)} c set body = o.body from ${old} o
      where c.id = o.id and c.body is null and o.body is not null and c.id = any (array(${pendingEvents(month)}))`.execute(
      trx,
    );
    await sql`alter table events detach partition ${old}`.execute(trx);
    await sql`alter table ${old} rename to ${sql.id(replacedName(month))}`.execute(trx);
    await sql`alter table ${copyOf(month)} rename to ${sql.id(month.name)}`.execute(trx);
    await sql`alter table events attach partition ${old} ${valuesOf(month)}`.execute(trx);
    await sql`alter table ${old} drop constraint ids_of_month`.execute(trx);
    await sql`update retention_progress set bodies_removed_until = greatest(bodies_removed_until, ${new Date(month.until)}::timestamptz)`.execute(
      trx,
    );
  });
}

/**
 * Removes bodies that had stayed for deliveries that are done now, from a month that was rewritten. The lock on this one
 * partition is what {@link replaceByCopy} says of its own.
 *
 * @returns how many
 */
export async function removeKeptBodies(db: Database, month: EventMonth, lockWithinMs: number): Promise<number> {
  const table = sql.table(month.name);
  const isDone = sql`body is not null and id <> all (array(${pendingEvents(month)}))`;
  const { rows } = await sql`select from ${table} where ${isDone} limit 1`.execute(db);
  if (rows.length === 0) return 0;
  return db.transaction().execute(async (trx) => {
    await sql`set local lock_timeout = ${sql.lit(lockWithinMs)}`.execute(trx);
    await sql`lock table only ${table} in access exclusive mode`.execute(trx);
    const { numAffectedRows } = await sql`update ${table} set body = null where ${isDone}`.execute(trx);
    return Number(numAffectedRows ?? 0);
  });
}
