import { type Database, daysOf, prepared, withinRangeOf } from '@enterprise-api/shared/ledger';
import { longestTraceparent } from '@enterprise-api/shared/tracing';
import { type RawBuilder, sql } from 'kysely';

/** What the ledger has of an event for its attempts. */
export interface EventContent {
  body: string;
  /** Of the API request that emitted the event, if one did. */
  request_id: string | null;
  /** The trace that its attempts continue. */
  traceparent: string | null;
}

/** The trace of an event, from `events` or an alias of it. What a producer wrote may be longer than a trace can be. */
export function traceOf(alias: string): RawBuilder<unknown> {
  return sql`left(${sql.ref(`${alias}.traceparent`)}, ${sql.lit(longestTraceparent + 1)}) as traceparent`;
}

/**
 * A statement reads no further body once it has read so many bytes. The driver has a whole answer in memory, as bytes and as text,
 * and the bodies are encoded beside it: with 200 bodies of 250 KiB a process grew by 200 MB.
 */
const mostBytesPerStatement = 4 * 1024 ** 2;

/**
 * By event id. Events whose body is gone are missing; of those that another statement has to read, the content is `later`. Each
 * statement reads at least one.
 */
export async function findEvents(
  db: Database,
  eventIds: readonly string[],
  mostBytes = mostBytesPerStatement,
): Promise<Map<string, EventContent | 'later'>> {
  const { within, areRecent } = daysOf(eventIds);
  const range = withinRangeOf(eventIds);
  const { rows } = await sql<
    { id: string } & Omit<EventContent, 'body'> & { body: string | null }
  >`${areRecent ? prepared : sql``}
    select id, case when bytes_before < ${mostBytes}::int8 then body end as body, request_id, traceparent
    from (
      select e.id, b.body, e.request_id, ${traceOf('e')}, sum(octet_length(b.body)) over (order by e.id) - octet_length(b.body) as bytes_before
      from event_bodies b cross join lateral (
        select id, request_id, traceparent from events where id = b.event_id and id ${range} limit 1) e
      where b.event_id = any(${eventIds}::uuid[]) and b.event_id ${range} and ${within(sql`b.event_id`)}
    ) e`.execute(db);
  return new Map(rows.map(({ id, body, ...others }) => [id, body === null ? 'later' : { body, ...others }]));
}
