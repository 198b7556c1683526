import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** What the statements of the workers were doing, each time they were looked at. */
export interface Waits {
  /** Statements that were being executed, over all looks. */
  executing: number;
  /** Those of them that waited for a lock of another session: of a row, a transaction, a table. */
  lock: number;
  /** Those of these whose lock another worker held. */
  lockOfOtherWorker: number;
  /** Those that waited within the server: for a page, a buffer, the log's turn. */
  internal: number;
  /** Those that waited for the disk. */
  disk: number;
  /** Who waited for a lock, for which kind, and who held it: how often that was seen. */
  holders: Map<string, number>;
}

const everyMs = 20;

interface Look extends Omit<Waits, 'holders'> {
  holders: string[] | null;
}

/**
 * Looks at pg_stat_activity until `ended` settles. Each worker has an application name of its own, which begins with
 * `worker`; a statement is named by its first common table expression.
 */
export async function sampleWaits(db: Database, ended: Promise<unknown>): Promise<Waits> {
  const sums = { executing: 0, lock: 0, lockOfOtherWorker: 0, internal: 0, disk: 0 };
  const holders = new Map<string, number>();
  let goesOn = true;
  const end = () => {
    goesOn = false;
  };
  ended.then(end, end);
  while (goesOn) {
    const seen = await look(db);
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += seen[name];
    for (const holder of seen.holders ?? []) holders.set(holder, (holders.get(holder) ?? 0) + 1);
    await pause(everyMs);
  }
  return { ...sums, holders };
}

async function look(db: Database): Promise<Look> {
  const { rows } = await sql<Look>`
    with sessions as (
      select pid, application_name as name, wait_event_type as kind, wait_event as event, state,
        application_name || ' ' || coalesce(substring(query from 'with (?:recursive )?(\\w+) as'), left(query, 20)) as what
      from pg_stat_activity where datname = current_database()
    ), active as (
      select * from sessions where state = 'active' and name like 'worker%'
    ), held as (
      select a.pid, h.name <> a.name and h.name like 'worker%' as is_other, a.what || ' | ' || a.event || ' | ' || h.what as holder
      from active a cross join unnest(pg_blocking_pids(a.pid)) as b(pid) join sessions h on h.pid = b.pid
      where a.kind = 'Lock'
    )
    select (select count(*) from active) as executing, (select count(*) from active where kind = 'Lock') as lock,
      (select count(distinct pid) from held where is_other) as "lockOfOtherWorker",
      (select count(*) from active where kind in ('LWLock', 'BufferPin')) as internal,
      (select count(*) from active where kind = 'IO') as disk, (select array_agg(holder) from held) as holders`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('The statement returns one row.');
  return row;
}
