import type { Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** The work of examples/consultations against the events of the ledger: counts that must be 0, whenever it is asked. */
export interface WorkAudit {
  /** Ended, and no event says so. */
  endedWithoutEvent: number;
  /** Events beyond the first about the same work. */
  eventsBeyondFirst: number;
  /** Events about work that runs, was canceled, does not exist, or ended differently. */
  eventsWithoutEnd: number;
}

/** One statement, so that it sees every transaction as a whole, also while the service works. */
export async function auditWork(db: Database): Promise<WorkAudit> {
  const { rows } = await sql<WorkAudit>`
    with told as (
      select coalesce(body::json #>> '{data,consultation_id}', body::json #>> '{data,batch_id}') as id,
        split_part(type, '.', 2) as status
      from events join event_bodies on event_id = events.id
    ), ended as (
      select id, status from consultations.work where status not in ('running', 'canceled')
    )
    select
      (select count(*) from ended where not exists (select from told where told.id = ended.id)) as "endedWithoutEvent",
      (select count(*) - count(distinct id) from told) as "eventsBeyondFirst",
      (select count(*) from told where not exists (
        select from ended where ended.id = told.id and ended.status = told.status)) as "eventsWithoutEnd"`.execute(db);
  const [audit] = rows;
  if (audit === undefined) throw new Error('The ledger did not answer.');
  return audit;
}

/** Pieces of work by status. */
export async function countWork(db: Database): Promise<Record<string, number>> {
  const { rows } = await sql<{ status: string; count: number }>`
    select status, count(*) from consultations.work group by status`.execute(db);
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}
