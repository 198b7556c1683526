import { type Database, plainArray, prepared, withinRangeOf } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** What the ledger has of an event for its attempts. */
export interface EventContent {
  body: string;
  /** Of the API request that emitted the event, if one did. */
  request_id: string | null;
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
  const { rows } = await sql<{ id: string; body: string | null; request_id: string | null }>`${prepared}
    select id, case when bytes_before < ${mostBytes}::int8 then body end as body, request_id
    from (
      select id, body, request_id, sum(octet_length(body)) over (order by id) - octet_length(body) as bytes_before
      from events where id = any(${plainArray(eventIds)}::uuid[]) and id ${withinRangeOf(eventIds)} and body is not null
    ) e`.execute(db);
  return new Map(rows.map(({ id, body, request_id }) => [id, body === null ? 'later' : { body, request_id }]));
}
