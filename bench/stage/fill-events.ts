import type { Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';
import { seededRandom } from './random.ts';
import { payload, payloads } from './requests.ts';

export interface FilledEvents {
  organizationId: string;
  webhookId: string;
  events: number;
  /** Every n-th delivery is pending until tomorrow; the others have succeeded. */
  pendingEvery: number;
}

const perStatement = 25_000;
const variants = 16;

/** Writes events of the subject `con_1` with their bodies and one delivery each, as if emitted over the last hour. */
export async function fillWithEvents(db: Database, filled: FilledEvents): Promise<void> {
  const random = seededRandom(filled.events);
  const texts = Array.from({ length: variants }, () => payload(payloads.usual, random));
  for (let done = 0; done < filled.events; done += perStatement) {
    await insertEvents(db, filled, texts, [done, Math.min(done + perStatement, filled.events)]);
  }
  await sql`vacuum (analyze) events, event_bodies, event_subjects, deliveries, pending_deliveries`.execute(db);
  await sql`checkpoint`.execute(db);
}

function insertEvents(
  db: Database,
  { organizationId, webhookId, events, pendingEvery }: FilledEvents,
  texts: readonly string[],
  [from, to]: [number, number],
) {
  return sql`
    with numbered as (
      select i, md5(${organizationId} || i) as hash,
        lpad(to_hex((extract(epoch from now() - interval '1 hour' * (1 - i::float8 / ${events}::int)) * 1000)::bigint), 12, '0') as time
      from generate_series(${from}::int + 1, ${to}::int) i
    ), input as materialized (
      select i, (time || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15))::uuid as id,
        (time || '7' || substr(hash, 8, 3) || '8' || substr(hash, 11, 15))::uuid as attempt_id,
        i % ${pendingEvery}::int = 0 as is_pending from numbered
    ), written as (
      insert into events (id, organization_id, type, position)
      select id, ${organizationId}, 'consultation.completed', event_position(${organizationId}) from input
    ), bodies as (
      insert into event_bodies (event_id, body)
      select id, '{"type":"consultation.completed","data":' || (${texts}::text[])[1 + i % ${variants}::int] || '}' from input
    ), subjects as (
      insert into event_subjects (event_id, organization_id, subject) select id, ${organizationId}, 'con_1' from input
    ), pending as (
      insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, max_attempts,
        next_attempt_at)
      select delivery_id(id, ${webhookId}), ${webhookId}, ${organizationId}, id, 'consultation.completed', 4,
        now() + interval '1 day' from input where is_pending
    )
    insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, attempt_count, max_attempts,
      last_status_code, last_duration_ms, completed_at, delivered_by, delivered_version, excerpt, first_byte_ms)
    select delivery_id(id, ${webhookId}), ${organizationId}, ${webhookId}, id, 'consultation.completed',
      case when is_pending then 'pending' else 'succeeded' end, case when is_pending then 0 else 1 end, 4,
      case when not is_pending then 200 end, case when not is_pending then 12 end, case when not is_pending then now() end,
      case when not is_pending then attempt_id end, case when not is_pending then 1 end,
      case when not is_pending then 'ok' end, case when not is_pending then 12 end
    from input`.execute(db);
}
